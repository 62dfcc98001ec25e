//! What happened to servers of tools and to sub-agents, in words.

use bindery::log::{ServerChange, ServerChanged, SubagentEnded, TurnOutcome};

/// What happened to a server, in one line.
pub(crate) fn to_server(changed: &ServerChanged) -> String {
    let ServerChanged {
        server,
        tools,
        hash,
        drift,
        reason,
        ..
    } = changed;
    let hash = hash.short();
    let stays = if drift.is_empty() {
        String::new()
    } else {
        format!(
            "; it says otherwise now ({}), and the list stays as it was",
            drift.join(" ")
        )
    };
    let what = match changed.change {
        ServerChange::Connected => format!("connected, {tools} tools ({hash})"),
        ServerChange::Lost => {
            let why = reason.as_deref().unwrap_or("nobody knows why");
            format!("lost: {why}; its {tools} tools stay in the list ({hash})")
        }
        ServerChange::Returned if drift.is_empty() => {
            format!("back, and its {tools} tools are the same to the byte ({hash})")
        }
        ServerChange::Returned => format!("back, {tools} tools ({hash})"),
        ServerChange::Listed => format!("its list was read again, {tools} tools ({hash})"),
        ServerChange::Rebuilt => {
            return format!(
                "MCP server {server}: it says otherwise ({}), and that took the place of what was shown: {tools} tools ({hash})",
                drift.join(" ")
            );
        }
    };
    format!("MCP server {server}: {what}{stays}")
}

/// What became of a sub-agent, in one line.
pub(crate) fn to_subagent(ended: &SubagentEnded) -> String {
    let outcome = match ended.outcome {
        TurnOutcome::Completed => "done",
        TurnOutcome::Blocked => "blocked",
        TurnOutcome::Aborted => "aborted",
        TurnOutcome::Failed => "failed",
        TurnOutcome::Interrupted => "interrupted",
    };
    let back = match ended.sent_back {
        0 => String::new(),
        1 => ", its report sent back once".to_owned(),
        many => format!(", its report sent back {many} times"),
    };
    format!(
        "sub-agent {} in session {}: {outcome} after {} requests{back}",
        ended.agent, ended.session, ended.requests
    )
}
