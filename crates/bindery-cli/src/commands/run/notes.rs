//! Memory, skills and variants of a session that is driven here.

use std::sync::Arc;

use bindery::Scope;
use bindery::here::{Here, Question};
use bindery::log::{Json, SettingChanged};
use bindery::sources::variants::SETTING;
use bindery_agent::plugins::{MemoryDesk, MemoryFiles};
use bindery_agent::tools::{MemoryRead, MemoryTool, SkillTool};
use bindery_agent::{Agent, Refresh};
use bindery_store::SessionId;

use crate::outside;

/// Gives the agent the tools of memory and skills, where the settings have them. The desk of memory, if there
/// is one.
pub(super) fn attach(
    agent: &mut Agent,
    id: &SessionId,
    here: &Here,
    question: &Question,
) -> Option<Arc<MemoryDesk>> {
    if let Some(skills) = SkillTool::new(here.launch.skills.clone()) {
        agent.toolbox = std::mem::take(&mut agent.toolbox).with(skills);
    }
    if here.launch.memory.is_empty() {
        return None;
    }
    let desk = MemoryDesk::new(
        here.launch.memory.clone(),
        question.places.clone(),
        here.gate().clone(),
        id.to_string(),
        outside::today().to_string(),
    );
    agent.toolbox = std::mem::take(&mut agent.toolbox)
        .with(MemoryTool::new(desk.clone()))
        .with(MemoryRead::new(desk.clone()));
    Some(desk)
}

/// What reads memory again from turn to turn.
pub(super) fn refresher(desk: Arc<MemoryDesk>, scope: &Scope) -> Box<dyn Refresh> {
    Box::new(MemoryFiles::new(desk, scope.clone()))
}

/// Writes down which variants hold, so that the session keeps them.
pub(super) fn record_variants(agent: &mut Agent, here: &Here) -> anyhow::Result<()> {
    let mut payloads = Vec::new();
    for assigned in &here.variants {
        let name = format!("{SETTING}{}", assigned.experiment);
        let value = Json::new(&serde_json::Value::from(assigned.variant.as_str()));
        if agent.state().settings().get(name.as_str()) != Some(&value) {
            let source = bindery::Source::Setting {
                name: assigned.at.to_string().into(),
            };
            let changed = SettingChanged {
                name: name.into(),
                value: Some(value),
                source,
            };
            payloads.push(changed.into());
        }
    }
    if !payloads.is_empty() {
        agent.commit(payloads)?;
    }
    Ok(())
}
