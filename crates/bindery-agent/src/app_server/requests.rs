//! What each method does.

use std::sync::{Arc, Mutex};

use bindery_core::log::{Intake, Seq};
use bindery_store::events;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::approval::ByClient;
use super::outlet::item;
use super::protocol::{
    Empty, ErrorCode, InitializeParams, InitializeResult, InjectItemsParams, InjectItemsResult, Input,
    SettingsUpdateParams, ThreadForkParams, ThreadListParams, ThreadListResult, ThreadReadParams,
    ThreadReadResult, ThreadResult, ThreadResumeParams, ThreadSettings, ThreadStartParams, Turn,
    TurnInterruptParams, TurnStartParams, TurnStartResult, TurnStatus, TurnSteerParams, TurnSteerResult,
};
use super::refusal::Refusal;
use super::server::{Server, Work};
use super::thread::{Ask, Host, Open, Opened, Slot};

/// The version of the protocol.
const PROTOCOL: u32 = 1;
/// The most sessions that are listed where nobody says so.
const LISTED: u32 = 50;

type Answer = Result<Value, Refusal>;

impl<H: Host> Server<H> {
    /// Carries out a request.
    pub(super) fn call(&mut self, method: &str, params: Value) -> Answer {
        if !self.initialized && method != "initialize" {
            let message = format!("`initialize` comes before `{method}`");
            return Err(Refusal::new(ErrorCode::NotInitialized, message));
        }
        match method {
            "initialize" => self.initialize(&read(params)?),
            "thread/start" => self.start(&read(params)?),
            "thread/resume" => self.resume(&read(params)?),
            "thread/fork" => self.fork(&read(params)?),
            "thread/list" => self.list(&read(params)?),
            "thread/read" => self.read(&read(params)?),
            "thread/close" => self.close(&read(params)?),
            "thread/compact/start" => self.compact(&read(params)?),
            "thread/settings/update" => self.update(&read(params)?),
            "thread/inject_items" => self.inject(read(params)?),
            "turn/start" => self.turn(&read(params)?),
            "turn/steer" => self.steer(&read(params)?),
            "turn/interrupt" => self.interrupt(&read(params)?),
            other => Err(Refusal::new(
                ErrorCode::UnknownMethod,
                format!("there is no method `{other}`; `bindery app-server schema` has them all"),
            )),
        }
    }

    fn initialize(&mut self, params: &InitializeParams) -> Answer {
        self.initialized = true;
        self.desk.greet(params.capabilities.as_ref());
        write(&InitializeResult {
            user_agent: concat!("bindery/", env!("CARGO_PKG_VERSION")).to_owned(),
            protocol_version: PROTOCOL,
        })
    }

    fn start(&mut self, params: &ThreadStartParams) -> Answer {
        let opened = self.host.open(Ask::Start(params))?;
        self.take_in(opened)
    }

    fn resume(&mut self, params: &ThreadResumeParams) -> Answer {
        if let Some(open) = self.threads.get(&params.thread_id).filter(|_| !params.ephemeral) {
            return write(&ThreadResult {
                thread: open.shown(),
                settings: open.settings.clone(),
            });
        }
        let opened = self.host.open(Ask::Resume(params))?;
        self.take_in(opened)
    }

    fn fork(&mut self, params: &ThreadForkParams) -> Answer {
        let opened = self.host.open(Ask::Fork(params))?;
        self.take_in(opened)
    }

    fn take_in(&mut self, opened: Opened) -> Answer {
        let Opened {
            id,
            mut agent,
            durable,
            forked_from,
            kept,
        } = opened;
        agent.watch = Box::new(super::outlet::Told {
            thread: id.clone(),
            outlet: self.outlet.clone(),
            total: agent.state().usage().session,
        });
        agent.permit = Arc::new(ByClient {
            thread: id.clone(),
            desk: self.desk.clone(),
            outlet: self.outlet.clone(),
            otherwise: agent.permit.clone(),
            allowed: Mutex::default(),
        });
        let began = ThreadSettings::of(&agent);
        let mut open = Open {
            id: id.clone(),
            durable,
            forked_from,
            turns: agent.state().turns(),
            provider: agent.model.provider(),
            slot: Slot::Idle(Box::new(agent)),
            settings: began.clone(),
            began,
            changed: false,
            waiting: Vec::new(),
            for_one_turn: None,
            policy: None,
            baseline: Vec::new(),
            _kept: kept,
        };
        open.restore()?;
        let result = ThreadResult {
            thread: open.shown(),
            settings: open.settings.clone(),
        };
        self.threads.insert(id, open);
        write(&result)
    }

    fn list(&mut self, params: &ThreadListParams) -> Answer {
        let limit = usize::try_from(params.limit.unwrap_or(LISTED)).unwrap_or(usize::MAX);
        let data = self.host.list(limit)?;
        write(&ThreadListResult { data })
    }

    fn read(&mut self, params: &ThreadReadParams) -> Answer {
        let open = self.thread(&params.thread_id)?;
        let Slot::Idle(agent) = &open.slot else {
            let message = "a turn runs: its items come as notifications; read again when it is over";
            return Err(Refusal::new(ErrorCode::TurnActive, message));
        };
        let mut items = Vec::new();
        for event in events(agent.journal().log(), Seq::FIRST) {
            let event = event.map_err(|error| Refusal::of_store(&error))?;
            let said = [
                "user_message",
                "assistant_message",
                "tool_called",
                "tool_returned",
                "snapshot_entered",
            ];
            if said.contains(&event.payload.kind()) {
                items.push(item(&event));
            }
        }
        let thread = open.shown();
        write(&ThreadReadResult { thread, items })
    }

    /// Gives the writer's lease back, so that another process can go on with the session.
    fn close(&mut self, params: &ThreadReadParams) -> Answer {
        let open = self.thread(&params.thread_id)?;
        if matches!(open.slot, Slot::Busy { .. }) {
            let message = "a turn runs; interrupt it first";
            return Err(Refusal::new(ErrorCode::TurnActive, message));
        }
        self.threads.remove(&params.thread_id);
        write(&Empty {})
    }

    /// Compacts a session while no turn runs; `thread/compacted` says what came of it.
    fn compact(&mut self, params: &ThreadReadParams) -> Answer {
        self.thread(&params.thread_id)?;
        self.spawn(&params.thread_id, Work::Compaction)?;
        write(&Empty {})
    }

    fn update(&mut self, params: &SettingsUpdateParams) -> Answer {
        let result = self.thread(&params.thread_id)?.update(params)?;
        write(&result)
    }

    fn inject(&mut self, params: InjectItemsParams) -> Answer {
        if params.items.is_empty() {
            return Err(Refusal::new(ErrorCode::InvalidParams, "`items` is empty"));
        }
        let accepted = params.items.len();
        self.thread(&params.thread_id)?.inject(params.items)?;
        write(&InjectItemsResult { accepted })
    }

    fn turn(&mut self, params: &TurnStartParams) -> Answer {
        let text = text(&params.input)?;
        let open = self.thread(&params.thread_id)?;
        if let Slot::Busy { turn, .. } = &open.slot {
            let message = format!("turn {turn} runs; steer it, or wait for its end");
            return Err(Refusal::new(ErrorCode::TurnActive, message).but("none", Some(turn)));
        }
        open.for_one_turn.clone_from(&params.developer_instructions);
        let turn = self.begin(&params.thread_id, Some(&text))?;
        write(&TurnStartResult {
            turn: Turn {
                id: turn,
                status: TurnStatus::InProgress,
                reason: None,
            },
        })
    }

    /// Into the turn that runs, or a refusal that says what is the case; with `orStart` a turn begins with it
    /// where the expected one has ended.
    fn steer(&mut self, params: &TurnSteerParams) -> Answer {
        let text = text(&params.input)?;
        let open = self.thread(&params.thread_id)?;
        let expected = params.expected_turn_id.as_str();
        match &open.slot {
            Slot::Busy { turn, mail, cancel } if turn == expected => {
                if cancel.is_cancelled() || !mail.steer(text) {
                    let message = format!("turn {turn} ends and takes no words any more");
                    return Err(Refusal::new(ErrorCode::NotSteerable, message).but(expected, Some(turn)));
                }
                let turn_id = turn.clone();
                write(&TurnSteerResult {
                    turn_id,
                    started: false,
                })
            }
            Slot::Busy { turn, .. } => {
                let message = format!("turn {turn} runs, not {expected}");
                Err(Refusal::new(ErrorCode::TurnMismatch, message).but(expected, Some(turn)))
            }
            Slot::Idle(_) if params.or_start => {
                let turn_id = self.begin(&params.thread_id, Some(&text))?;
                write(&TurnSteerResult {
                    turn_id,
                    started: true,
                })
            }
            Slot::Idle(_) => {
                let message = "no turn runs; start one, or say `orStart`";
                Err(Refusal::new(ErrorCode::NoActiveTurn, message).but(expected, None))
            }
        }
    }

    fn interrupt(&mut self, params: &TurnInterruptParams) -> Answer {
        let open = self.thread(&params.thread_id)?;
        match &open.slot {
            Slot::Busy { turn, cancel, .. } if *turn == params.turn_id => {
                cancel.cancel();
                write(&Empty {})
            }
            Slot::Busy { turn, .. } => {
                let message = format!("turn {turn} runs, not {}", params.turn_id);
                Err(Refusal::new(ErrorCode::TurnMismatch, message).but(&params.turn_id, Some(turn)))
            }
            Slot::Idle(_) => {
                Err(Refusal::new(ErrorCode::NoActiveTurn, "no turn runs").but(&params.turn_id, None))
            }
        }
    }

    fn thread(&mut self, id: &str) -> Result<&mut Open, Refusal> {
        self.threads.get_mut(id).ok_or_else(|| {
            let id: String = id.chars().take(80).collect();
            let message = format!("`{id}` is not open here; start or resume it first");
            Refusal::new(ErrorCode::UnknownThread, message)
        })
    }

    /// Begins a turn, with what is said or with what waits. Its id.
    pub(super) fn begin(&mut self, id: &str, said: Option<&str>) -> Result<String, Refusal> {
        let open = self.thread(id)?;
        open.carry_out()?;
        let instructions = open.for_one_turn.take();
        open.instruct(instructions.as_deref())?;
        let Slot::Idle(agent) = &mut open.slot else {
            return Err(Refusal::new(ErrorCode::TurnActive, "a turn runs"));
        };
        if let Some(said) = said {
            let key = format!("turn-{}", agent.state().next_seq());
            agent
                .say(&key, said, Intake::FollowUp)
                .map_err(|error| Refusal::of_store(&error))?;
        }
        self.spawn(id, Work::Turn)
    }
}

fn text(input: &[Input]) -> Result<String, Refusal> {
    let texts: Vec<&str> = input.iter().map(|Input::Text { text }| text.as_str()).collect();
    let text = texts.join("\n\n");
    if text.trim().is_empty() {
        return Err(Refusal::new(ErrorCode::InvalidParams, "`input` says nothing"));
    }
    Ok(text)
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, Refusal> {
    let params = if params.is_null() {
        Value::Object(serde_json::Map::new())
    } else {
        params
    };
    serde_json::from_value(params).map_err(|error| Refusal::new(ErrorCode::InvalidParams, error.to_string()))
}

fn write(result: &impl Serialize) -> Answer {
    serde_json::to_value(result).map_err(Refusal::failed)
}
