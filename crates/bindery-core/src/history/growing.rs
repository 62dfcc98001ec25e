//! A history that grows: what was sound before is not read again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Normalised, RepairKind, normalise};
use crate::{Message, Part, Role};

/// Follows a history from request to request. What it gives is what [`normalise`] gives; what it costs is
/// what came since, as long as nothing has to be mended.
#[derive(Debug, Clone, Default)]
pub struct Growing {
    /// Up to here everything was sound, and stands for itself.
    sound: usize,
    /// The ids of the calls there.
    ids: BTreeSet<Arc<str>>,
}

impl Growing {
    /// The history, of which the first `unchanged` messages are those of the last time.
    pub fn normalise<'m>(&mut self, messages: &'m [Message], unchanged: usize) -> Normalised<'m> {
        if unchanged < self.sound {
            *self = Self::default();
        }
        let rest = messages.get(self.sound..).unwrap_or_default();
        let ids = ids(rest);
        let is_sound = ids.iter().all(|id| !self.ids.contains(id)) && self.is_sound(rest);
        if !is_sound {
            *self = Self::default();
            return normalise(messages);
        }
        // Before an answer that follows the user, nothing is open.
        let borders = rest.windows(2).rposition(|pair| {
            let roles: Vec<Role> = pair.iter().map(|message| message.role).collect();
            roles == [Role::User, Role::Assistant]
        });
        if let Some(border) = borders {
            let passed = rest.get(..=border).unwrap_or_default();
            self.ids.extend(self::ids(passed));
            self.sound += border + 1;
        }
        Normalised {
            messages: messages.into(),
            repairs: Vec::new(),
        }
    }

    fn is_sound(&self, rest: &[Message]) -> bool {
        let goes_on = self.sound > 0;
        let repairs = normalise(rest).repairs;
        repairs
            .iter()
            .all(|repair| goes_on && repair.kind == RepairKind::BeginningMissing)
    }
}

fn ids(messages: &[Message]) -> Vec<Arc<str>> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::ToolCall { id, .. } => Some(id.clone()),
            _ => None,
        })
        .collect()
}
