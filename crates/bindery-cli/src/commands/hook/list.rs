//! `bindery hook list`.

use std::io::Write;

use bindery::hooks::{Gate, Hook, State, held_by};
use bindery::sources::lock::Key;
use serde::Serialize;

use super::Here;
use super::ground::Ground;
use crate::notices;
use crate::status::Status;
use crate::terminal::{Terminal, printable};

#[derive(Serialize)]
struct Page<'a> {
    schema: &'static str,
    hooks: Vec<HookRow<'a>>,
    gates: Vec<GateRow<'a>>,
    states: Vec<StateRow<'a>>,
    waiting: &'a [Key],
}

#[derive(Serialize)]
struct HookRow<'a> {
    event: &'static str,
    matcher: &'a str,
    command: &'a str,
    timeout_ms: u64,
    on_error: bindery::hooks::OnError,
    contract: bindery::hooks::Contract,
    delivery: bindery::hooks::Delivery,
    declared: &'a str,
}

#[derive(Serialize)]
struct GateRow<'a> {
    name: &'a str,
    require: &'a [String],
    tools: Option<&'a str>,
    stop: bool,
    declared: &'a str,
}

#[derive(Serialize)]
struct StateRow<'a> {
    name: &'a str,
    set_by: String,
    declared: &'a str,
}

pub(super) fn run(here: &Here, terminal: &mut Terminal) -> anyhow::Result<Status> {
    let ground = Ground::read(&here.dir, None)?;
    let declared = &ground.declared;
    let page = Page {
        schema: "bindery.hook-list/1",
        hooks: declared.hooks.iter().map(hook).collect(),
        gates: declared.gates.gates.iter().map(gate).collect(),
        states: declared
            .gates
            .states
            .iter()
            .map(|one| state(&ground, one))
            .collect(),
        waiting: &declared.waiting,
    };
    if here.json {
        writeln!(terminal.out, "{}", serde_json::to_string_pretty(&page)?)?;
    } else {
        people(&page, terminal)?;
    }
    notices::tell(&declared.notices, terminal)?;
    let waits = !declared.waiting.is_empty();
    Ok(if waits { Status::Finding } else { Status::Success })
}

fn people(page: &Page<'_>, terminal: &mut Terminal) -> anyhow::Result<()> {
    let out = &mut terminal.out;
    if page.hooks.is_empty() && page.gates.is_empty() && page.states.is_empty() {
        writeln!(out, "no hook runs here and no gate holds")?;
    }
    for hook in &page.hooks {
        let matcher = if hook.matcher.is_empty() {
            "*"
        } else {
            hook.matcher
        };
        writeln!(
            out,
            "hook   {} {}: {}",
            hook.event,
            printable(matcher),
            printable(hook.command)
        )?;
        writeln!(out, "       {}", printable(hook.declared))?;
    }
    for gate in &page.gates {
        let mut keeps: Vec<String> = gate
            .tools
            .iter()
            .map(|tools| format!("calls of {tools}"))
            .collect();
        if gate.stop {
            keeps.push("the end of a turn".to_owned());
        }
        let what = if keeps.is_empty() {
            "calls on its paths".to_owned()
        } else {
            keeps.join(", ")
        };
        let require = gate.require.join(", ");
        writeln!(
            out,
            "gate   {}: {require} before {}",
            printable(gate.name),
            printable(&what)
        )?;
        writeln!(out, "       {}", printable(gate.declared))?;
    }
    for state in &page.states {
        writeln!(
            out,
            "state  {}: {}",
            printable(state.name),
            printable(&state.set_by)
        )?;
        writeln!(out, "       {}", printable(state.declared))?;
    }
    Ok(())
}

fn hook(hook: &Hook) -> HookRow<'_> {
    HookRow {
        event: hook.event.name(),
        matcher: hook.matcher.written(),
        command: &hook.command,
        timeout_ms: hook.timeout_ms,
        on_error: hook.on_error,
        contract: hook.contract,
        delivery: hook.delivery,
        declared: &hook.declared,
    }
}

fn gate(gate: &Gate) -> GateRow<'_> {
    GateRow {
        name: &gate.name,
        require: &gate.require,
        tools: gate.tools.as_ref().map(bindery::hooks::Matcher::written),
        stop: gate.stop,
        declared: &gate.declared,
    }
}

fn state<'a>(ground: &Ground, state: &'a State) -> StateRow<'a> {
    StateRow {
        name: &state.name,
        set_by: held_by(&ground.declared.gates, &state.name),
        declared: &state.declared,
    }
}
