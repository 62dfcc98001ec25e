//! The index as the model reads it: the user's skills in a section, the repository's in a message.

use std::fmt::Write as _;

use bindery_core::marker::escape_foreign;
use bindery_core::{
    Context, Group, Kind, Modes, RegisterError, Registration, Scope as Registry, Section, Source, Trust,
};
use bindery_guard::policy::Approval;

use super::{Skill, SkillIndex};
use crate::gate::{Gate, Passage};
use crate::instructions::Severity;
use crate::notice::{Notice, Position};
use crate::places::Places;

/// The words before the index. Text that people edit lives in files.
const PREAMBLE: &str = include_str!("../../../../sections/runtime/skills.md");
/// The most bytes of an index.
pub const MOST_INDEX: usize = 16_000;
/// The fewest bytes of a description that say anything.
const FEWEST: usize = 40;
/// The section and the context of skills.
const NAME: &str = "skills";

/// An index within its budget.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offer {
    /// The lines; empty where there is no skill.
    pub text: String,
    /// Descriptions that were shortened.
    pub shortened: usize,
    /// Skills that are not named.
    pub left_out: usize,
}

/// Skills by name and description. Over the budget every description gets the same room; where even names
/// do not fit, the last ones are left out.
pub fn offer<'s>(skills: impl Iterator<Item = &'s Skill>, budget: usize) -> Offer {
    let skills: Vec<(String, String)> = skills
        .map(|skill| {
            (
                named(&skill.name),
                escape_foreign(&skill.description).into_owned(),
            )
        })
        .collect();
    let names: usize = skills.iter().map(|(name, _)| name.len() + "- : \n".len()).sum();
    let all: usize = skills.iter().map(|(_, about)| about.len()).sum();
    let room = if names + all <= budget {
        usize::MAX
    } else {
        let share = budget.saturating_sub(names) / skills.len().max(1);
        if share < FEWEST { 0 } else { share }
    };
    let mut out = Offer::default();
    for (name, about) in &skills {
        let line = if about.len() <= room {
            format!("- {name}: {about}\n")
        } else {
            let end = about.floor_char_boundary(room.saturating_sub("…".len()));
            let kept = about.get(..end).unwrap_or_default().trim_end();
            if kept.is_empty() {
                format!("- {name}\n")
            } else {
                format!("- {name}: {kept}…\n")
            }
        };
        if out.text.len() + line.len() > budget {
            out.left_out += 1;
            continue;
        }
        out.shortened += usize::from(about.len() > room);
        out.text.push_str(&line);
    }
    out
}

/// A name on one line, that opens no tag.
fn named(name: &str) -> String {
    escape_foreign(&crate::visible::clipped(name, super::LONGEST_NAME)).into_owned()
}

impl SkillIndex {
    /// Registers the index. What the repository says of its skills travels as a message: it must not stand
    /// in the system prompt.
    pub fn register(
        &self,
        places: &Places,
        gate: &Gate,
        scope: &Registry,
    ) -> Result<(Vec<Registration>, Vec<Notice>), RegisterError> {
        let (mut kept, mut notices) = (Vec::new(), self.notices(places));
        for trust in [Trust::User, Trust::Project] {
            let skills = self.offered().filter(|skill| skill.scope.trust() == trust);
            let sources: Vec<String> = skills.clone().map(|skill| places.shown(&skill.path)).collect();
            let offer = offer(skills, MOST_INDEX);
            if offer.text.is_empty() {
                continue;
            }
            notices.extend(offer.notice());
            let is_user = trust == Trust::User;
            let fragment = if is_user { NAME } else { "context:skills" };
            let passed = pass(gate, fragment, trust, &sources, &offer.text);
            let text = format!("{}\n\n{}", PREAMBLE.trim_end(), passed.trim_end());
            let source = Source::Plugin {
                name: "skills".into(),
            };
            kept.push(if is_user {
                let section = Section::new(NAME, text).group(Group::Dynamic).order(20);
                scope.section(
                    section
                        .modes(Modes::FullOnly)
                        .from_source(source, trust)
                        .literal(),
                )?
            } else {
                let context = Context::new(NAME, text).message(Kind::Skill).order(400);
                scope.context(context.modes(Modes::FullOnly).from_source(source, trust))?
            });
        }
        Ok((kept, notices))
    }

    /// Skills that the model may ask for.
    pub fn offered(&self) -> impl Iterator<Item = &Skill> + Clone {
        self.skills.iter().filter(|skill| skill.is_offered)
    }

    fn notices(&self, places: &Places) -> Vec<Notice> {
        let told = self.diagnostics.iter().map(|diagnostic| {
            let at = Position::line(places.shown(&diagnostic.path), diagnostic.line.unwrap_or(0));
            match diagnostic.severity {
                Severity::Note => Notice::note("skill", at, diagnostic.message.clone()),
                _ => Notice::warning("skill", at, diagnostic.message.clone()),
            }
        });
        let shadowed = self.shadowed.iter().map(|skill| {
            let by = self.skills.iter().find(|other| other.name == skill.name);
            let by = by.map_or_else(String::new, |by| places.shown(&by.path));
            let message = format!("skill `{}` is left out: {by} has that name", named(&skill.name));
            Notice::note(
                "skill-shadowed",
                Position::whole(places.shown(&skill.path)),
                message,
            )
        });
        told.chain(shadowed).collect()
    }
}

impl Offer {
    fn notice(&self) -> Option<Notice> {
        if self.shortened == 0 && self.left_out == 0 {
            return None;
        }
        let mut message = format!("the index of skills has at most {MOST_INDEX} bytes:");
        // Writing to a string cannot fail.
        let _ = write!(message, " {} descriptions were shortened", self.shortened);
        if self.left_out > 0 {
            let _ = write!(message, ", {} skills are not named", self.left_out);
        }
        let notice = Notice::warning("skills-budget", Position::whole("skills"), message);
        Some(notice.mend("shorten descriptions, or remove skills that nobody uses"))
    }
}

/// The index as the gate lets it in; a finding is told at the file of its line.
fn pass(gate: &Gate, fragment: &str, trust: Trust, sources: &[String], text: &str) -> String {
    let place = |line: u32| {
        let index = usize::try_from(line).unwrap_or(0).saturating_sub(1);
        Position::whole(sources.get(index).map_or("skills", String::as_str))
    };
    let passage = Passage {
        fragment,
        shown: "skills",
        trust,
        approval: Approval::Missing,
        approve: "read the skill's description, and remove it if nobody meant it",
        place: &place,
    };
    gate.pass(text, &passage).into_owned()
}
