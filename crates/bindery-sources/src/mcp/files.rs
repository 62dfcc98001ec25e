//! The settings files that declare servers.
//!
//! Sources: the documentation of Claude Code (`.mcp.json` of a project; `mcpServers` of `~/.claude.json`, and
//! there the projects' own) and of Codex (`[mcp_servers]` of `config.toml`).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{OnChange, Owner};
use crate::hooks::{self, Clients};
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::reading::Reader;
use crate::strict_file;

/// Claude Code keeps much else in its file.
const MOST_CLAUDE: u64 = 64 << 20;

/// In which form entries are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Claude,
    Codex,
    Own,
}

/// A settings file with the servers in it.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// As people read its path.
    pub(crate) shown: String,
    pub(super) owner: Owner,
    pub(super) form: Form,
    pub(crate) servers: Map<String, Value>,
    pub(super) on_change: Option<OnChange>,
    pub(super) notices: Vec<Notice>,
}

/// A file that the command line names.
pub(super) fn given(path: &Path, places: &Places) -> Result<File, Refused> {
    let shown = places.shown(path);
    let gone = || {
        Notice::error(
            "mcp-config",
            Position::whole(shown.as_str()),
            "there is no such file",
        )
    };
    let text = strict_file::read(path, &shown, None)?.ok_or_else(gone)?;
    let value = hooks::json(&text, &shown).map_err(|(at, why)| Notice::error("mcp-config", at, why))?;
    let servers = value.get("mcpServers").and_then(Value::as_object).cloned();
    let servers = servers.ok_or_else(|| {
        let message = "it has no `mcpServers`";
        Notice::error("mcp-config", Position::whole(shown.as_str()), message)
            .mend("write {\"mcpServers\": {\"NAME\": {\"command\": …}}}")
    })?;
    Ok(File::new(shown, Owner::Given, Form::Claude, servers))
}

/// The user's files, then the project's.
pub(super) fn read(
    places: &Places,
    environment: &BTreeMap<String, String>,
    clients: Clients,
) -> (Vec<File>, Vec<Notice>) {
    let (mut files, mut notices) = (Vec::new(), Vec::new());
    let mut add = |read: Result<Option<File>, Notice>| match read {
        Ok(file) => files.extend(file),
        Err(notice) => notices.push(notice),
    };
    let folder = |variable: &str| {
        let set = environment.get(variable).filter(|value| !value.is_empty());
        set.map(PathBuf::from).filter(|path| path.is_absolute())
    };
    if let Some(path) = places.user_settings() {
        add(own(&path, Owner::User, places));
    }
    if clients.claude
        && let Some(home) = folder("CLAUDE_CONFIG_DIR").or_else(|| places.home.clone())
    {
        match claude(&home.join(".claude.json"), places) {
            Ok(both) => both.into_iter().for_each(|file| add(Ok(Some(file)))),
            Err(notice) => add(Err(notice)),
        }
    }
    let codex = folder("CODEX_HOME").or_else(|| places.home.as_ref().map(|home| home.join(".codex")));
    if clients.codex
        && let Some(home) = codex
    {
        add(codex_file(&home.join("config.toml"), Owner::User, places));
    }
    let (project, told) = of_project(places);
    files.extend(project);
    notices.extend(told);
    (files, notices)
}

/// The project's files alone.
pub(crate) fn of_project(places: &Places) -> (Vec<File>, Vec<Notice>) {
    let (mut files, mut notices) = (Vec::new(), Vec::new());
    let read = [
        own(&places.project_settings(), Owner::Project, places),
        mcp_json(places),
        codex_file(
            &places.project.join(".codex").join("config.toml"),
            Owner::Project,
            places,
        ),
    ];
    for one in read {
        match one {
            Ok(file) => files.extend(file),
            Err(notice) => notices.push(notice),
        }
    }
    (files, notices)
}

impl File {
    fn new(shown: String, owner: Owner, form: Form, servers: Map<String, Value>) -> Self {
        Self {
            shown,
            owner,
            form,
            servers,
            on_change: None,
            notices: Vec::new(),
        }
    }
}

/// Where a project's file must lie once links are followed.
fn within(owner: Owner, places: &Places) -> Option<&Path> {
    (owner == Owner::Project).then_some(places.project.as_path())
}

fn unreadable((at, why): (Position, String)) -> Notice {
    let message = format!("its MCP servers are not known: {why}");
    Notice::warning("mcp-unreadable", at, message).mend("mend the file; its client may read it all the same")
}

fn servers_of(value: &Value, key: &str) -> Map<String, Value> {
    value
        .get(key)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn mcp_json(places: &Places) -> Result<Option<File>, Notice> {
    let path = places.project.join(".mcp.json");
    let shown = places.shown(&path);
    let Some(text) = strict_file::read(&path, &shown, Some(&places.project))? else {
        return Ok(None);
    };
    let value = hooks::json(&text, &shown).map_err(unreadable)?;
    let servers = servers_of(&value, "mcpServers");
    Ok(Some(File::new(shown, Owner::Project, Form::Claude, servers)))
}

fn codex_file(path: &Path, owner: Owner, places: &Places) -> Result<Option<File>, Notice> {
    let shown = places.shown(path);
    let Some(text) = strict_file::read(path, &shown, within(owner, places))? else {
        return Ok(None);
    };
    let value = hooks::toml(&text, &shown).map_err(unreadable)?;
    Ok(Some(File::new(
        shown,
        owner,
        Form::Codex,
        servers_of(&value, "mcp_servers"),
    )))
}

/// Claude Code's own file: what it says for this project alone comes before what it says for all.
fn claude(path: &Path, places: &Places) -> Result<Vec<File>, Notice> {
    let shown = places.shown(path);
    if path.symlink_metadata().is_err() {
        return Ok(Vec::new());
    }
    let whole = |why: String| unreadable((Position::whole(shown.as_str()), why));
    let contents = Reader::new()
        .read(path, MOST_CLAUDE)
        .map_err(|problem| whole(problem.to_string()))?;
    let text = String::from_utf8_lossy(&contents.bytes);
    let value = hooks::json(text.trim_start_matches('\u{feff}'), &shown).map_err(unreadable)?;
    let project = places.project.to_string_lossy();
    let here = value.get("projects").and_then(|projects| projects.get(&*project));
    let here = here
        .map(|here| servers_of(here, "mcpServers"))
        .unwrap_or_default();
    let all = servers_of(&value, "mcpServers");
    let file = |shown: String, servers| File::new(shown, Owner::User, Form::Claude, servers);
    Ok(vec![
        file(format!("{shown} (this project)"), here),
        file(shown, all),
    ])
}

/// `[mcp]` of our own settings.
fn own(path: &Path, owner: Owner, places: &Places) -> Result<Option<File>, Notice> {
    let shown = places.shown(path);
    let Some(text) = strict_file::read(path, &shown, within(owner, places))? else {
        return Ok(None);
    };
    let value = hooks::toml(&text, &shown).map_err(unreadable)?;
    let Some(table) = value.get("mcp") else {
        return Ok(None);
    };
    let mut file = File::new(shown.clone(), owner, Form::Own, servers_of(table, "servers"));
    let mut wrong = |message: String, mend: &str| {
        let notice = Notice::warning("mcp-setting", Position::whole(shown.as_str()), message);
        file.notices.push(notice.mend(mend));
    };
    let known = ["servers", "on_change"];
    for key in table.as_object().into_iter().flatten().map(|(key, _)| key) {
        if !known.contains(&key.as_str()) {
            let message = format!("`[mcp]` has no key `{}`", super::shown(key));
            wrong(message, "write [mcp.servers.NAME], or on_change = \"pin\"");
        }
    }
    let on_change = match table.get("on_change").map(Value::as_str) {
        None => None,
        Some(_) if owner == Owner::Project => {
            let message = "a repository may not say what a changed tool list comes to".to_owned();
            wrong(message, "set `on_change` in your own config.toml");
            None
        }
        Some(Some("pin")) => Some(OnChange::Pin),
        Some(Some("rebuild")) => Some(OnChange::Rebuild),
        Some(_) => {
            wrong(
                "`mcp.on_change` is \"pin\" or \"rebuild\"".to_owned(),
                "write one of them",
            );
            None
        }
    };
    file.on_change = on_change;
    Ok(Some(file))
}
