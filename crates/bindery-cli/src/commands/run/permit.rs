//! Asking the person at the terminal before a tool acts.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use bindery::BoxFuture;
use bindery::hooks::Rule;
use bindery_agent::{Permission, Permit, Request};

use super::arguments::Allowed;
use super::people::People;
use crate::terminal::printable;

/// Asks, and remembers what was allowed for the session.
pub(super) struct Ask {
    people: People,
    rules: Vec<Allowed>,
    allowed: Mutex<BTreeSet<String>>,
    /// One question at a time: sub-agents work at the same time.
    turn: tokio::sync::Mutex<()>,
}

impl Ask {
    /// Asks these people; what `rules` allow acts without.
    pub(super) fn new(people: People, rules: Vec<Allowed>) -> Self {
        Self {
            people,
            rules,
            allowed: Mutex::default(),
            turn: tokio::sync::Mutex::default(),
        }
    }

    fn is_allowed(&self, tool: &str) -> bool {
        let said = self.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        self.rules.iter().any(|rule| rule.allows(tool)) || said.contains(tool)
    }

    fn allow(&self, tool: &str) {
        self.allowed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(tool.to_owned());
    }
}

impl Permit for Ask {
    fn rule(&self, request: &Request) -> Rule {
        if self.is_allowed(&request.tool) {
            Rule::Allow
        } else {
            Rule::None
        }
    }

    fn decide<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Permission> {
        Box::pin(async move {
            if self.is_allowed(&request.tool) && request.why.is_none() {
                return Permission::Granted;
            }
            if !self.people.can_be_asked() {
                let why = match &request.why {
                    Some(why) => format!("a hook wants a person to be asked, and nobody can be: {why}"),
                    None => "nobody can be asked for permission, and it was not given beforehand".to_owned(),
                };
                return Permission::Refused(why);
            }
            let _turn = self.turn.lock().await;
            // The answer to the question before may have been `always`.
            if self.is_allowed(&request.tool) && request.why.is_none() {
                return Permission::Granted;
            }
            let why = request.why.as_ref().map(|why| format!("{}\n", printable(why)));
            let question = format!(
                "{}{}\nallow? [y]es, [a]lways `{}`, [N]o: ",
                why.unwrap_or_default(),
                printable(&request.what),
                request.tool
            );
            let mut err = anstream::stderr();
            // If nobody sees the question, nobody answers it with yes.
            let _unseen = write!(err, "{question}").and_then(|()| err.flush());
            let answer = self.people.answer().await.unwrap_or_default();
            match answer.trim().to_lowercase().as_str() {
                "y" | "yes" => Permission::Granted,
                "a" | "always" => {
                    self.allow(&request.tool);
                    Permission::Granted
                }
                "" | "n" | "no" => Permission::Refused("the user refused".to_owned()),
                other => Permission::Refused(format!("the user refused and said: {other}")),
            }
        })
    }
}
