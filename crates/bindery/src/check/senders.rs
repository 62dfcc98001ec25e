//! Who gives an agent tools, and whom it can send: MCP servers and definitions of agents.

use bindery_sources::agents::{Agent, Form};

use super::codes::Code;
use super::diagnostic::Diagnostic;
use super::subject::Subject;
use super::tables::Tables;

/// The tools that clients have, one a line.
const TOOLS: &str = include_str!("../../../../checks/agent-tools.txt");

pub(super) fn check(subject: &Subject, _: &Tables, out: &mut Vec<Diagnostic>) {
    for problem in &subject.servers {
        let message = format!(
            "the MCP server `{}` cannot be used: {}",
            problem.name, problem.why
        );
        let mend = "correct the entry: a client that reads it goes on without the server, or does not start";
        let shown = problem.declared.as_str();
        out.push(Diagnostic::new(Code::McpUnusable, shown, 0, message).mend(mend));
    }
    let shown = |path: &std::path::Path| {
        let places = subject.places.as_ref();
        places.map_or_else(
            || path.to_string_lossy().into_owned(),
            |places| places.shown(path),
        )
    };
    for note in &subject.agents.diagnostics {
        let diagnostic = Diagnostic::new(Code::AgentUnusable, shown(&note.path), 0, note.message.clone());
        out.push(diagnostic.mend("mend the definition"));
    }
    for agent in &subject.agents.agents {
        for tool in unknown(agent) {
            let message = format!(
                "the agent `{}` names the tool `{tool}`, which no client has",
                agent.name
            );
            let mend =
                "correct the name, or leave `tools` out for all of them: what is not there is not given";
            out.push(Diagnostic::new(Code::AgentToolUnknown, shown(&agent.path), 0, message).mend(mend));
        }
    }
}

/// Tools of a definition that nobody knows. Names of servers' tools and beginnings of names can be anything.
fn unknown(agent: &Agent) -> Vec<String> {
    if agent.form != Form::Markdown {
        return Vec::new();
    }
    let known: Vec<&str> = TOOLS.lines().filter(|line| !line.starts_with('#')).collect();
    let named = agent.tools.iter().chain(&agent.manner.disallowed_tools);
    let plain = named.map(|tool| tool.split('(').next().unwrap_or(tool).trim());
    let unknown = plain.filter(|tool| {
        !tool.is_empty() && !tool.starts_with("mcp__") && !tool.contains('*') && !known.contains(tool)
    });
    unknown.map(str::to_owned).collect()
}
