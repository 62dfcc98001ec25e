//! What a rule of the user and a hook's answer come to together.

use serde::Serialize;

/// What the user's rules say about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rule {
    /// Nothing.
    None,
    /// It may run.
    Allow,
    /// The user decides.
    Ask,
    /// It may not run.
    Deny,
}

/// Whether a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// As the mode of the session says: nobody decided.
    Default,
    /// It runs.
    Allow,
    /// The user decides.
    Ask,
    /// It does not run.
    Deny,
}

/// Deny over ask over allow, whoever says it: an `allow` only takes the place of a question that the mode
/// would have asked, never of a rule's.
pub fn permission(rule: Rule, hook: Rule) -> Permission {
    match rule.max(hook) {
        Rule::Deny => Permission::Deny,
        Rule::Ask => Permission::Ask,
        Rule::Allow => Permission::Allow,
        Rule::None => Permission::Default,
    }
}

/// Every pair with its outcome: the table that [`permission`] executes.
pub fn table() -> Vec<(Rule, Rule, Permission)> {
    let all = [Rule::None, Rule::Allow, Rule::Ask, Rule::Deny];
    all.into_iter()
        .flat_map(|rule| all.map(|hook| (rule, hook, permission(rule, hook))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pairs_that_users_asked_about() {
        assert_eq!(permission(Rule::Ask, Rule::Allow), Permission::Ask);
        assert_eq!(permission(Rule::Deny, Rule::Allow), Permission::Deny);
        assert_eq!(permission(Rule::Allow, Rule::Deny), Permission::Deny);
        assert_eq!(permission(Rule::None, Rule::Allow), Permission::Allow);
        assert_eq!(permission(Rule::None, Rule::None), Permission::Default);
    }

    #[test]
    fn neither_side_weakens_the_other() {
        for (rule, hook, permission) in table() {
            let least = |one: Rule| super::permission(one, Rule::None);
            assert!(permission >= least(rule) && permission >= least(hook));
        }
    }
}
