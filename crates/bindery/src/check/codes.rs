//! The rules: one table that the checks, the documentation's test, SARIF and `--explain` all read.

use std::fmt;
use std::str::FromStr;

use bindery_sources::Level;
use serde::{Serialize, Serializer};

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its code.
    pub code: Code,
    /// The code as printed. It never changes and is never used again for something else.
    pub id: &'static str,
    /// A word for people.
    pub name: &'static str,
    /// How much it matters unless a case says otherwise.
    pub level: Level,
    /// Whether `--fix` mends it, in the cases where that is safe.
    pub is_fixable: bool,
    /// What it finds, in one line without a final period.
    pub about: &'static str,
}

/// What is not a code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule `{0}`; docs/check.md lists them")]
pub struct UnknownCode(pub String);

macro_rules! rules {
    ($($code:ident $id:literal $name:literal $level:ident $fix:literal $about:literal;)+) => {
        /// The stable names of rules.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $(#[doc = concat!("`", $id, "`: ", $about, ".")] $code,)+
        }

        /// Every rule, by id.
        pub const RULES: &[Rule] = &[
            $(Rule { code: Code::$code, id: $id, name: $name, level: Level::$level, is_fixable: $fix, about: $about },)+
        ];

        impl Code {
            /// The code as printed, such as `BND104`.
            pub fn id(self) -> &'static str {
                match self { $(Self::$code => $id,)+ }
            }

            /// The word for people, such as `import-dead`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$code => $name,)+ }
            }

            /// How much it matters unless a case says otherwise.
            pub fn level(self) -> Level {
                match self { $(Self::$code => Level::$level,)+ }
            }
        }
    };
}

rules! {
    IgnoreWithoutReason "BND001" "ignore-without-reason" Warning false "A diagnostic is silenced without a reason, so it is not silenced";
    IgnoreUnused "BND002" "ignore-unused" Warning true "A comment or setting silences nothing";
    IgnoreUnknown "BND003" "ignore-unknown" Warning false "A comment or setting names a code that does not exist";
    RulesCut "BND101" "rules-cut" Error false "A size limit takes a part of a file, and with it rules";
    FileShadowed "BND102" "file-shadowed" Warning false "Another file takes the place of this one, whose rules are then lost";
    FileMisnamed "BND103" "file-misnamed" Warning false "A file's name differs only in case from one that is read, so it is not read everywhere";
    ImportDead "BND104" "import-dead" Warning false "An import names nothing";
    ImportRefused "BND105" "import-refused" Error false "An import may not be followed";
    ImportMisspelled "BND106" "import-wrong-case" Warning true "An import differs from the file's name in case";
    ImportAccidental "BND107" "import-accidental" Warning false "A word in a sentence is taken for an import, and a file is sent that nobody meant";
    ImportNotFollowed "BND108" "import-not-followed" Warning false "A line is an import for one client and plain text for another that reads the file";
    ImportCycle "BND109" "import-cycle" Note false "An import leads back to a file that is being imported";
    LinkDead "BND110" "link-dead" Warning false "A link leads to nothing";
    LinkMisspelled "BND111" "link-wrong-case" Warning true "A link differs from the file's name in case";
    FileUnreadable "BND112" "file-unreadable" Error false "A file cannot be read, or a symbolic link leads nowhere";
    GlobEmpty "BND113" "glob-empty" Warning false "A list of patterns is empty, which no two clients take alike";
    GlobDead "BND114" "glob-dead" Warning true "A pattern can never match";
    GlobUnmatched "BND115" "glob-unmatched" Warning false "A pattern matches no file of this project";
    FrontMatter "BND116" "front-matter" Warning false "Front matter that is not understood, or hidden, or never closed";
    Encoding "BND117" "encoding" Warning false "Bytes that a client misreads";
    FileDuplicate "BND118" "file-duplicate" Note false "Two files have the same text";
    CopiesDrifted "BND119" "copies-drifted" Warning false "Two files were copies and now differ, so two clients follow different rules";
    RulesContradict "BND120" "rules-contradict" Warning false "Two rules that load together contradict each other";
    RuleRepeated "BND121" "rule-repeated" Note false "A rule stands twice in what loads together";
    BlockedByClient "BND122" "blocked-by-client" Error false "A client's own content filter keeps the file out";
    OutsideProject "BND123" "outside-project" Warning false "Text comes in from outside of the project";
    ClientSettings "BND124" "client-settings" Warning false "A client's settings or search bounds change what loads";
    PathDead "BND125" "path-dead" Note false "A path in backticks names nothing";
    CommandDead "BND126" "command-dead" Warning false "A hook or an MCP server names a file that is not there";
    McpUnusable "BND127" "mcp-unusable" Warning false "The entry of an MCP server cannot be used as it is";
    AgentUnusable "BND128" "agent-unusable" Warning false "A definition gives no agent, or says something that is not understood";
    AgentToolUnknown "BND129" "agent-tool-unknown" Warning false "A definition of an agent names a tool that no client has";
    VariableUnknown "BND201" "variable-unknown" Error false "A section refers to a variable that does not exist";
    SectionInvalid "BND202" "section-invalid" Error false "A section cannot be read or assembled";
    SectionUnused "BND203" "section-unused" Warning false "A section never reaches the model";
    SectionOrder "BND204" "section-order" Warning false "Two sections claim one position, and only their names decide";
    SettingsInvalid "BND205" "settings-invalid" Error false "A settings file is wrong";
    Memory "BND206" "memory" Warning false "A memory is not seen as it is meant: a dead link, a cut index, a file that cannot be read";
    Skill "BND207" "skill" Warning false "A skill is not offered as it is meant: no description, a name that is taken, too much for the index";
    VolatileText "BND301" "volatile-before-boundary" Warning false "Text before the cache boundary is different the next time";
    VolatileVariable "BND302" "variable-before-boundary" Warning false "A section before the cache boundary refers to a value that differs between sessions";
    Budget "BND303" "budget" Warning false "Instructions take a large part of the context window";
    HostileText "BND401" "hostile-text" Warning false "Text that looks like an attack on the model, or that people do not see";
    AdviceGate "BND501" "advice-gate" Note false "A mechanical constraint is written as prose; a gate would hold it";
    AdviceState "BND502" "advice-state" Note false "State that changes is written into a file; a runtime context file would be fresh";
    AdviceMemory "BND503" "advice-memory" Note false "A fact about somebody stands among norms; memory is its place";
    AdviceLaunch "BND504" "advice-launch" Note false "A policy of one way of running stands in every run; a launch flag is its place";
}

impl Code {
    /// The rule.
    pub fn rule(self) -> &'static Rule {
        const NONE: &Rule = &RULES[0];
        RULES.iter().find(|rule| rule.code == self).unwrap_or(NONE)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

impl FromStr for Code {
    type Err = UnknownCode;

    /// By id or by name, in any case.
    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let is = |rule: &&Rule| rule.id.eq_ignore_ascii_case(text) || rule.name.eq_ignore_ascii_case(text);
        let found = RULES.iter().find(is).map(|rule| rule.code);
        found.ok_or_else(|| UnknownCode(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_names_are_unique_and_in_order() {
        assert!(RULES.is_sorted_by(|a, b| a.id < b.id));
        for rule in RULES {
            assert_eq!(rule.id.parse(), Ok(rule.code));
            assert_eq!(rule.name.parse(), Ok(rule.code));
            assert_eq!(rule.code.rule(), rule);
        }
        assert!("BND999".parse::<Code>().is_err());
    }
}
