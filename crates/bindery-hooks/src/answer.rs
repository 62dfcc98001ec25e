//! What one hook's answer means.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::Event;
use crate::permission::Rule;
use crate::stdout::{self, Stdout};

/// Whose protocol a hook was written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contract {
    /// Claude Code: unknown fields are tolerated.
    Claude,
    /// Codex: an unknown field makes the answer a failure.
    Codex,
    /// Our own: Claude Code's with states and replacements.
    Own,
}

/// What a failure comes to. A failure is not a verdict: only what is declared here blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// As if the hook had refused. What gates default to.
    Block,
    /// The user decides. Means something before a tool only; elsewhere it is as `Allow`.
    Ask,
    /// As if the hook had said nothing. What the clients do.
    Allow,
}

/// How a hook's process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that the runner did not send.
    Signalled(i32),
    /// The runner ended it after this many milliseconds.
    TimedOut(u64),
    /// It never ran; the text says why.
    NotStarted(String),
}

/// What a run of a hook left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote, as far as the runner reads.
    pub stdout: Vec<u8>,
    /// What it complained, as far as the runner reads.
    pub stderr: Vec<u8>,
    /// Whether it wrote more than the runner reads.
    pub cut: bool,
}

/// Why an answer is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "failure", content = "detail", rename_all = "snake_case")]
pub enum Failure {
    /// It took longer than it may, in milliseconds.
    TimedOut(u64),
    /// It could not be started.
    NotStarted(String),
    /// It ended with a code that is no answer; the text is what it complained.
    Exited(i32, String),
    /// It was ended by a signal.
    Signalled(i32),
    /// What it wrote does not follow the protocol.
    BadOutput(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut(after) => write!(f, "it ran longer than {after} ms and was ended"),
            Self::NotStarted(why) => write!(f, "it could not be started: {why}"),
            Self::Exited(code, complaint) if complaint.is_empty() => {
                write!(f, "it ended with exit code {code}")
            }
            Self::Exited(code, complaint) => write!(f, "it ended with exit code {code}: {complaint}"),
            Self::Signalled(signal) => write!(f, "it was ended by signal {signal}"),
            Self::BadOutput(why) => f.write_str(why),
        }
    }
}

/// What a hook says: for a tool whether it runs, elsewhere `Deny` for a block.
pub type Verdict = Rule;

/// One hook's answer. A field that the hook did not give is absent, and changes nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Whether the event goes on.
    pub verdict: Verdict,
    /// Why, for the model or the user.
    pub reason: Option<String>,
    /// Another input for the tool.
    pub rewrite: Option<Map<String, Value>>,
    /// Context for the model.
    pub context: Option<String>,
    /// A message for the user.
    pub message: Option<String>,
    /// The session's work stops here; the text is for the user.
    pub halt: Option<String>,
    /// States that are reached, for gates.
    pub states: Vec<String>,
    /// What takes the place of a conversation that is compacted.
    pub replacement: Option<Value>,
    /// Why this is no answer; the verdict is then what was declared for failures.
    pub failure: Option<Failure>,
    /// What the hook's author should know.
    pub remarks: Vec<String>,
}

impl Answer {
    fn silent() -> Self {
        Self {
            verdict: Rule::None,
            reason: None,
            rewrite: None,
            context: None,
            message: None,
            halt: None,
            states: Vec::new(),
            replacement: None,
            failure: None,
            remarks: Vec::new(),
        }
    }

    fn failed(event: Event, on_error: OnError, failure: Failure) -> Self {
        let mut answer = Self::silent();
        answer.fail(event, on_error, failure);
        answer
    }

    /// Something is wrong with the answer: what was declared for failures holds, unless it is milder than
    /// what the answer says.
    pub fn fail(&mut self, event: Event, on_error: OnError, failure: Failure) {
        let verdict = match on_error {
            OnError::Block if event.can_block() => Rule::Deny,
            OnError::Ask if event == Event::PreToolUse => Rule::Ask,
            OnError::Block | OnError::Ask | OnError::Allow => Rule::None,
        };
        if verdict > self.verdict {
            self.verdict = verdict;
            self.reason = Some(format!("the hook failed: {failure}"));
        }
        self.failure = Some(failure);
    }
}

/// The exit code that refuses.
const REFUSES: i32 = 2;
/// Characters of a complaint that are kept.
const COMPLAINT: usize = 2_000;

/// Reads what a run of a hook left. Total on any bytes.
pub fn read(contract: Contract, event: Event, on_error: OnError, ran: &Ran) -> Answer {
    let failed = |failure| Answer::failed(event, on_error, failure);
    match &ran.ending {
        Ending::TimedOut(after) => failed(Failure::TimedOut(*after)),
        Ending::NotStarted(why) => failed(Failure::NotStarted(why.clone())),
        Ending::Signalled(signal) => failed(Failure::Signalled(*signal)),
        Ending::Exited(0) if ran.cut => failed(Failure::BadOutput("it wrote more than is read".to_owned())),
        Ending::Exited(0) => match stdout::parse(&ran.stdout) {
            Stdout::Nothing => Answer::silent(),
            Stdout::Text(text) => Answer {
                context: event.takes_plain_text().then_some(text),
                ..Answer::silent()
            },
            Stdout::Broken(why) => failed(Failure::BadOutput(why)),
            Stdout::Object { fields, noise } => match Fields::new(contract, event).read(&fields) {
                Err(why) => failed(Failure::BadOutput(why)),
                Ok(mut answer) => {
                    let noise = noise.map(|noise| format!("text stands before the JSON object: {noise:?}"));
                    answer.remarks.extend(noise);
                    answer
                }
            },
        },
        Ending::Exited(REFUSES) => refusal(event, ran),
        Ending::Exited(code) => failed(Failure::Exited(*code, complaint(&ran.stderr))),
    }
}

/// Exit code 2: the reason stands on stderr, and whatever stands on stdout is no answer.
fn refusal(event: Event, ran: &Ran) -> Answer {
    let (on_stderr, on_stdout) = (complaint(&ran.stderr), complaint(&ran.stdout));
    let mut remarks = Vec::new();
    let reason = match (on_stderr.is_empty(), on_stdout.is_empty()) {
        (false, _) => on_stderr,
        (true, false) => {
            remarks.push("the reason stands on stdout; with exit code 2 it is read from stderr".to_owned());
            on_stdout
        }
        (true, true) => {
            remarks
                .push("it refuses without a reason: the model can only guess what to do instead".to_owned());
            "a hook refused and gave no reason".to_owned()
        }
    };
    let verdict = if event.can_block() { Rule::Deny } else { Rule::None };
    if verdict == Rule::None {
        remarks.push(format!("exit code 2 blocks nothing at {event}"));
    }
    Answer {
        verdict,
        reason: Some(reason),
        remarks,
        ..Answer::silent()
    }
}

fn complaint(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim()
        .chars()
        .take(COMPLAINT)
        .collect()
}

/// Fields of the protocol at the top level.
const TOP_LEVEL: [&str; 7] = [
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
];

/// Reads a control object. `Err` is why it is none.
struct Fields {
    contract: Contract,
    event: Event,
    answer: Answer,
}

impl Fields {
    fn new(contract: Contract, event: Event) -> Self {
        Self {
            contract,
            event,
            answer: Answer::silent(),
        }
    }

    fn read(mut self, fields: &Map<String, Value>) -> Result<Answer, String> {
        let unknown = fields.keys().find(|key| !TOP_LEVEL.contains(&key.as_str()));
        if let (Contract::Codex, Some(unknown)) = (self.contract, unknown) {
            return Err(format!(
                "`{unknown}` is no field of the answer, and Codex takes none but its own"
            ));
        }
        if fields.contains_key("additionalContext") {
            self.remark(
                "`additionalContext` at the top level is dropped; it belongs into `hookSpecificOutput`",
            );
        }
        let goes_on = field(fields, "continue", Value::as_bool)?.unwrap_or(true);
        let stop_reason = string(fields, "stopReason")?;
        if !goes_on {
            self.answer.halt = Some(stop_reason.unwrap_or_else(|| "a hook stopped the session".to_owned()));
        }
        self.answer.message = string(fields, "systemMessage")?;
        self.answer.reason = string(fields, "reason")?;
        if let Some(decision) = string(fields, "decision")? {
            let said = self.decision("decision", &decision)?;
            self.verdict(said);
        }
        match fields.get("hookSpecificOutput") {
            None | Some(Value::Null) => {}
            Some(Value::Object(specific)) => self.specific(specific)?,
            Some(_) => return Err("`hookSpecificOutput` is no object".to_owned()),
        }
        if self.contract == Contract::Own {
            self.own(fields)?;
        }
        Ok(self.answer)
    }

    fn specific(&mut self, fields: &Map<String, Value>) -> Result<(), String> {
        match string(fields, "hookEventName")? {
            Some(name) if name.parse() != Ok(self.event) => {
                let event = self.event;
                self.remark(format!(
                    "`hookSpecificOutput` is for `{name}`, and this is {event}: it is dropped"
                ));
                return Ok(());
            }
            Some(_) => {}
            None => self.remark("`hookSpecificOutput` does not name its event (`hookEventName`)"),
        }
        if let Some(decision) = string(fields, "permissionDecision")? {
            let said = self.decision("permissionDecision", &decision)?;
            self.verdict(said);
        }
        if let Some(reason) = string(fields, "permissionDecisionReason")? {
            self.answer.reason = Some(reason);
        }
        self.answer.rewrite = field(fields, "updatedInput", Value::as_object)?.cloned();
        if self.answer.rewrite.is_some() && self.event != Event::PreToolUse {
            let event = self.event;
            self.remark(format!("there is no input to update at {event}"));
            self.answer.rewrite = None;
        }
        let context = string(fields, "additionalContext")?.filter(|context| !context.trim().is_empty());
        if context.is_some() && !self.event.takes_context() {
            let event = self.event;
            self.remark(format!("no context can be added at {event}"));
        } else {
            self.answer.context = context;
        }
        Ok(())
    }

    /// What only our own protocol has.
    fn own(&mut self, fields: &Map<String, Value>) -> Result<(), String> {
        for state in field(fields, "set", Value::as_array)?.into_iter().flatten() {
            match state.as_str() {
                Some(name) if !name.trim().is_empty() => self.answer.states.push(name.to_owned()),
                _ => return Err("`set` holds names of states only".to_owned()),
            }
        }
        if self.event == Event::PreCompact {
            self.answer.replacement = fields.get("replace").filter(|value| !value.is_null()).cloned();
        }
        Ok(())
    }

    fn decision(&self, key: &str, said: &str) -> Result<Verdict, String> {
        let is_tool = self.event == Event::PreToolUse;
        match said {
            "block" | "deny" => Ok(Rule::Deny),
            "ask" if is_tool => Ok(Rule::Ask),
            "approve" | "allow" if is_tool => Ok(Rule::Allow),
            "approve" | "allow" => Ok(Rule::None),
            other => {
                let other: String = other.chars().take(60).collect();
                Err(format!("`{other}` is no `{key}` at {}", self.event))
            }
        }
    }

    /// Of two verdicts in one answer the stricter holds.
    fn verdict(&mut self, said: Verdict) {
        if said == Rule::Deny && !self.event.can_block() {
            let event = self.event;
            self.remark(format!("there is nothing to block at {event}"));
            return;
        }
        self.answer.verdict = self.answer.verdict.max(said);
    }

    fn remark(&mut self, remark: impl Into<String>) {
        self.answer.remarks.push(remark.into());
    }
}

/// A field, if it is there and no null. `Err` if it is of another type.
fn field<'v, T>(
    fields: &'v Map<String, Value>,
    key: &str,
    read: impl FnOnce(&'v Value) -> Option<T>,
) -> Result<Option<T>, String> {
    match fields.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value)
            .map(Some)
            .ok_or_else(|| format!("`{key}` is of the wrong type")),
    }
}

fn string(fields: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    Ok(field(fields, key, Value::as_str)?.map(str::to_owned))
}

#[cfg(test)]
mod tests;
