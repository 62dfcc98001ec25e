//! Running the hooks of an event: at the same time, each within its limit, merged in their order.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bindery_core::BoxFuture;
use bindery_hooks::{
    Answer, Contract, Delivery, Dialect, Ending, Event, Facts, Hook, Hooks, Named, OnError, Outcome, Over,
    Owner, Ran, input, merge, read,
};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::limits;
use super::process::{self, Surroundings};

/// A hook that is part of the program. It answers as a command would: what it returns is read, bounded in
/// time, and merged in the same way.
pub trait Handler: Send + Sync {
    /// Answers an event.
    fn answer(&self, told: Value) -> BoxFuture<'static, Ran>;
}

/// A handler and when it is asked.
#[derive(Clone)]
pub struct Registered {
    /// What people call it.
    pub name: String,
    /// When it runs.
    pub event: Event,
    /// How long it may take.
    pub limit: Duration,
    /// What a failure comes to.
    pub on_error: OnError,
    /// What answers.
    pub handler: Arc<dyn Handler>,
}

/// Runs hooks.
pub struct HookRunner {
    /// The hooks of settings files.
    pub hooks: Hooks,
    /// Those that are part of the program; they come after the others.
    pub handlers: Vec<Registered>,
    /// Where processes run.
    pub surroundings: Surroundings,
    /// How many characters of context one hook may give.
    pub context_limit: usize,
    /// Where context over the limit is kept whole; without it, what is over the limit is refused.
    pub keep: Option<PathBuf>,
    /// What a hook's last answer came to, where its author should know: told with its next input.
    previous: Mutex<BTreeMap<String, Value>>,
}

/// One hook that was asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Where it is declared, or its name.
    pub hook: String,
    /// Whose it is.
    pub owner: Owner,
    /// How what it says lives on.
    pub delivery: Delivery,
    /// Its exit status, where it was a process that ended by itself.
    pub exit_code: Option<i32>,
    /// What it answered.
    pub answer: Answer,
    /// Its context, as it may enter.
    pub contexts: Vec<String>,
}

/// What all hooks of an event said.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// What it comes to.
    pub outcome: Outcome,
    /// Every hook, in order.
    pub runs: Vec<Run>,
}

/// A hook on its way.
#[derive(Clone)]
enum Job {
    Command(Hook),
    Handler(Registered),
}

/// Characters of context that Claude Code 2.1 and Codex 0.171 were seen to pass on whole.
pub const CONTEXT_LIMIT: usize = 10_000;

impl HookRunner {
    /// A runner of these hooks.
    pub fn new(hooks: Hooks, surroundings: Surroundings) -> Self {
        Self {
            hooks,
            handlers: Vec::new(),
            surroundings,
            context_limit: CONTEXT_LIMIT,
            keep: None,
            previous: Mutex::default(),
        }
    }

    /// Whether an event has anybody to ask.
    pub fn has(&self, event: Event, value: &str) -> bool {
        !self.hooks.of(event, value).is_empty() || self.handlers.iter().any(|one| one.event == event)
    }

    /// Asks every hook of an event. `value` is the field that matchers look at; `fields` are the event's own.
    pub async fn ask(&self, event: Event, value: &str, facts: &Facts, fields: &Map<String, Value>) -> Asked {
        let first = facts.turn_index.unwrap_or_default() == 0;
        let commands = self
            .hooks
            .of(event, value)
            .into_iter()
            .filter(|hook| first || !hook.first_turn);
        let mut jobs: Vec<Job> = commands.map(|hook| Job::Command(hook.clone())).collect();
        let handlers = self.handlers.iter().filter(|one| one.event == event);
        jobs.extend(handlers.map(|one| Job::Handler(one.clone())));
        let mut running = JoinSet::new();
        for (index, job) in jobs.iter().cloned().enumerate() {
            let told = self.told(event, value, facts, fields, &job);
            let at = self.surroundings.clone();
            running.spawn(async move { (index, job.run(told, &at).await) });
        }
        let mut ran: BTreeMap<usize, Ran> = BTreeMap::new();
        while let Some(joined) = running.join_next().await {
            if let Ok((index, one)) = joined {
                ran.insert(index, one);
            }
        }
        let runs: Vec<Run> = jobs
            .iter()
            .enumerate()
            .map(|(index, job)| self.read(event, value, job, ran.remove(&index)))
            .collect();
        let answers: Vec<Named<Answer>> = runs.iter().map(named).collect();
        Asked {
            outcome: merge(&answers),
            runs,
        }
    }

    /// What a hook is told.
    fn told(
        &self,
        event: Event,
        value: &str,
        facts: &Facts,
        fields: &Map<String, Value>,
        job: &Job,
    ) -> Value {
        let dialect = Dialect::of(job.contract());
        let mut fields = fields.clone();
        if event.matched() == Some("tool_name") {
            fields.insert("tool_name".to_owned(), dialect.tool(value).into());
            if let Some(Value::Object(given)) = fields.get("tool_input") {
                let given = dialect.input(value, given);
                fields.insert("tool_input".to_owned(), Value::Object(given));
            }
        }
        if let Some(previous) = self.previous().get(job.name()) {
            fields.insert("previous_answer".to_owned(), previous.clone());
        }
        input(event, facts, &fields)
    }

    /// Reads what a hook left. One that vanished has failed in itself.
    fn read(&self, event: Event, value: &str, job: &Job, ran: Option<Ran>) -> Run {
        let ran = ran.unwrap_or_else(|| Ran {
            ending: Ending::NotStarted("it failed in itself".to_owned()),
            stdout: Vec::new(),
            stderr: Vec::new(),
            cut: false,
        });
        let mut answer = read(job.contract(), event, job.on_error(), &ran);
        let dialect = Dialect::of(job.contract());
        answer.rewrite = answer.rewrite.map(|rewrite| dialect.own_input(value, &rewrite));
        let name = job.name().to_owned();
        let fitted = limits::fit_context(
            answer.context.take(),
            self.context_limit,
            job.over(),
            self.keep.as_deref(),
        );
        let mut previous = self.previous();
        match &fitted.over {
            Some(length) => {
                let told = json!({"over_limit": true, "length": length, "limit": self.context_limit});
                previous.insert(name.clone(), told);
            }
            None => drop(previous.remove(&name)),
        }
        drop(previous);
        answer.context = (!fitted.contexts.is_empty()).then(|| fitted.contexts.concat());
        answer.remarks.extend(fitted.remark);
        if let Some(failure) = fitted.failure {
            answer.fail(event, job.on_error(), failure);
        }
        Run {
            hook: name,
            owner: job.owner(),
            delivery: job.delivery(),
            exit_code: match ran.ending {
                Ending::Exited(code) => Some(code),
                _ => None,
            },
            answer,
            contexts: fitted.contexts,
        }
    }

    fn previous(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Value>> {
        self.previous.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Job {
    async fn run(self, told: Value, at: &Surroundings) -> Ran {
        match self {
            Self::Command(hook) => {
                let limit = Duration::from_millis(hook.timeout_ms);
                let mut text = told.to_string().into_bytes();
                text.push(b'\n');
                process::run(&hook.command, text, limit, at).await
            }
            Self::Handler(one) => match tokio::time::timeout(one.limit, one.handler.answer(told)).await {
                Ok(ran) => ran,
                Err(_) => Ran {
                    ending: Ending::TimedOut(u64::try_from(one.limit.as_millis()).unwrap_or(u64::MAX)),
                    stdout: Vec::new(),
                    stderr: Vec::new(),
                    cut: false,
                },
            },
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Command(hook) => &hook.declared,
            Self::Handler(one) => &one.name,
        }
    }

    fn contract(&self) -> Contract {
        match self {
            Self::Command(hook) => hook.contract,
            Self::Handler(_) => Contract::Own,
        }
    }

    fn on_error(&self) -> OnError {
        match self {
            Self::Command(hook) => hook.on_error,
            Self::Handler(one) => one.on_error,
        }
    }

    fn owner(&self) -> Owner {
        match self {
            Self::Command(hook) => hook.owner,
            Self::Handler(_) => Owner::User,
        }
    }

    fn delivery(&self) -> Delivery {
        match self {
            Self::Command(hook) => hook.delivery,
            Self::Handler(_) => Delivery::Persistent,
        }
    }

    fn over(&self) -> Over {
        match self {
            Self::Command(hook) => hook.over,
            Self::Handler(_) => Over::Error,
        }
    }
}

fn named(run: &Run) -> Named<Answer> {
    Named {
        hook: run.hook.clone(),
        said: run.answer.clone(),
    }
}
