//! Variants of the prompt: `[[variant]]` in settings files, and which of them a user gets.
//!
//! A variant belongs to an experiment. Sections that a variant names take part only where it was chosen; what
//! it is `without` takes no part then. Who gets which is decided by `bindery_core::variant`.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use bindery_core::variant::{Weighted, choose};
use serde::{Deserialize, Serialize};
use toml::Spanned;

use crate::composition::{Composition, Selection};
use crate::notice::{Notice, Position, Refused};
use crate::places::Places;
use crate::settings::{Owner, near_miss};
use crate::strict_file;

/// The most a variant may weigh.
const MOST_WEIGHT: u32 = 1_000_000;

/// What is hashed: who stays with a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Each user gets one, in every project.
    #[default]
    User,
    /// Each project gets one, for every user.
    Project,
}

/// One variant, as it is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    experiment: String,
    name: String,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    key: Option<Unit>,
    #[serde(default)]
    sections: Vec<String>,
    #[serde(default)]
    without: Vec<String>,
}

fn one() -> u32 {
    1
}

/// A settings file, as far as it matters here.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    variant: Vec<Spanned<Written>>,
}

/// A variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its name and weight.
    pub weighted: Weighted,
    /// Sections that take part with it alone.
    pub sections: Vec<String>,
    /// Sections that take no part with it.
    pub without: Vec<String>,
    /// Where it is declared.
    pub at: Position,
}

/// An experiment with its variants, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// Its name.
    pub name: String,
    /// What is hashed.
    pub unit: Unit,
    /// The variants.
    pub variants: Vec<Variant>,
    /// Whose it is.
    pub owner: Owner,
}

/// Why a variant was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Because {
    /// By the hash.
    Hash,
    /// The session had it before.
    Session,
    /// It was asked for.
    Flag,
}

/// The variant of one experiment that holds here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Assigned {
    /// The experiment.
    pub experiment: String,
    /// The variant's name.
    pub variant: String,
    /// Why.
    pub because: Because,
    /// What was hashed.
    pub unit: Unit,
    /// Its weight.
    pub weight: u32,
    /// The weights of all variants together.
    pub of: u64,
    /// Where the variant is declared.
    pub at: Position,
}

/// What is fixed before anything is hashed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixed {
    /// The experiment.
    pub experiment: String,
    /// The variant.
    pub variant: String,
    /// By whom: the session or a flag.
    pub because: Because,
}

/// Reads the experiments of both settings files. Of two of one name the user's counts.
pub fn experiments(places: &Places) -> Result<(Vec<Experiment>, Vec<Notice>), Refused> {
    let (mut out, mut notices, mut problems) = (Vec::<Experiment>::new(), Vec::new(), Vec::new());
    let files = [
        (places.user_settings(), Owner::User),
        (Some(places.project_settings()), Owner::Project),
    ];
    for (path, owner) in files {
        let Some(path) = path else { continue };
        let shown = places.shown(&path);
        let within = (owner == Owner::Project).then_some(places.project.as_path());
        // Whatever else is wrong with the file, the settings say.
        let Ok(Some(text)) = strict_file::read(&path, &shown, within) else {
            continue;
        };
        match parse(&text, &shown, owner) {
            Ok(found) => {
                for experiment in found {
                    if let Some(known) = out.iter().find(|known| known.name == experiment.name) {
                        notices.push(outdone(&experiment, known));
                    } else {
                        out.push(experiment);
                    }
                }
            }
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        Ok((out, notices))
    } else {
        Err(Refused(problems))
    }
}

fn outdone(experiment: &Experiment, known: &Experiment) -> Notice {
    let by = known
        .variants
        .first()
        .map_or_else(String::new, |variant| variant.at.to_string());
    let at = experiment
        .variants
        .first()
        .map_or_else(|| Position::whole("variant"), |variant| variant.at.clone());
    Notice::note(
        "variant-shadowed",
        at,
        format!(
            "experiment `{}` of {by} takes the place of this one",
            experiment.name
        ),
    )
}

/// Reads the `[[variant]]` tables of a settings file's text.
pub fn parse(text: &str, shown: &str, owner: Owner) -> Result<Vec<Experiment>, Vec<Notice>> {
    if !text.contains("variant") {
        return Ok(Vec::new());
    }
    let file: File = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        let message = error.message().replace('\n', "; ");
        let notice = Notice::error("variant", Position::of_offset(shown, text, offset), message);
        vec![
            notice
                .excerpt_of(text)
                .mend("see docs/variants.md for the keys of a variant"),
        ]
    })?;
    let mut out: Vec<Experiment> = Vec::new();
    let mut problems = Vec::new();
    for written in file.variant {
        let at = Position::of_offset(shown, text, written.span().start);
        if let Err(why) = take(&mut out, written.into_inner(), &at, owner) {
            problems.push(Notice::error("variant", at, why));
        }
    }
    let idle = |experiment: &&Experiment| {
        experiment
            .variants
            .iter()
            .all(|variant| variant.weighted.weight == 0)
    };
    for experiment in out.iter().filter(idle) {
        let at = experiment
            .variants
            .first()
            .map_or_else(|| Position::whole(shown), |variant| variant.at.clone());
        let message = format!(
            "no variant of `{}` has a weight: nobody could get one",
            experiment.name
        );
        problems.push(Notice::error("variant", at, message).mend("give one of them a weight"));
    }
    if problems.is_empty() {
        Ok(out)
    } else {
        Err(problems)
    }
}

fn take(out: &mut Vec<Experiment>, written: Written, at: &Position, owner: Owner) -> Result<(), String> {
    for (what, name) in [("experiment", &written.experiment), ("name", &written.name)] {
        if !is_name(name) {
            return Err(format!(
                "`{what}` has at most 64 letters, digits, `.`, `_` and `-`"
            ));
        }
    }
    if written.weight > MOST_WEIGHT {
        return Err(format!(
            "a weight is at most {MOST_WEIGHT}, not {}",
            written.weight
        ));
    }
    let variant = Variant {
        weighted: Weighted {
            name: written.name.as_str().into(),
            weight: written.weight,
        },
        sections: written.sections,
        without: written.without,
        at: at.clone(),
    };
    let Some(experiment) = out.iter_mut().find(|known| known.name == written.experiment) else {
        out.push(Experiment {
            name: written.experiment,
            unit: written.key.unwrap_or_default(),
            variants: vec![variant],
            owner,
        });
        return Ok(());
    };
    if experiment
        .variants
        .iter()
        .any(|known| known.weighted.name == variant.weighted.name)
    {
        return Err(format!(
            "experiment `{}` has a variant `{}` already",
            experiment.name, written.name
        ));
    }
    if written.key.is_some_and(|key| key != experiment.unit) {
        return Err(format!(
            "the variants of `{}` name two keys; one experiment hashes one",
            experiment.name
        ));
    }
    experiment.variants.push(variant);
    Ok(())
}

fn is_name(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !name.is_empty() && name.len() <= 64 && name.bytes().all(good)
}

/// Who is asking, as far as it is hashed.
#[derive(Debug, Clone, Copy)]
pub struct Asking<'a> {
    /// The user, if known.
    pub user: Option<&'a str>,
    /// The project's root, as a text.
    pub project: &'a str,
}

/// Chooses a variant of every experiment, and says what becomes of the sections that they name.
pub fn assign(
    experiments: &[Experiment],
    asking: Asking<'_>,
    fixed: &[Fixed],
) -> Result<(Vec<Assigned>, Selection, Vec<Notice>), Refused> {
    let (mut assigned, mut selection, mut notices) = (Vec::new(), Selection::default(), Vec::new());
    for asked in fixed.iter().filter(|fixed| fixed.because == Because::Flag) {
        known(experiments, asked)?;
    }
    for experiment in experiments {
        let (index, because) = match kept(experiment, fixed, &mut notices) {
            Some(kept) => kept,
            None => match by_hash(experiment, asking) {
                Some(index) => (index, Because::Hash),
                None => continue,
            },
        };
        let Some(variant) = experiment.variants.get(index) else {
            continue;
        };
        assigned.push(Assigned {
            experiment: experiment.name.clone(),
            variant: variant.weighted.name.to_string(),
            because,
            unit: experiment.unit,
            weight: variant.weighted.weight,
            of: experiment
                .variants
                .iter()
                .map(|variant| u64::from(variant.weighted.weight))
                .sum(),
            at: variant.at.clone(),
        });
        experiment.select(variant, &mut selection);
    }
    Ok((assigned, selection, notices))
}

fn by_hash(experiment: &Experiment, asking: Asking<'_>) -> Option<usize> {
    let unit = match experiment.unit {
        Unit::User => asking.user.unwrap_or_default(),
        Unit::Project => asking.project,
    };
    let weighted: Vec<Weighted> = experiment
        .variants
        .iter()
        .map(|variant| variant.weighted.clone())
        .collect();
    choose(&experiment.name, unit, &weighted)
}

/// The variant that is fixed; a flag counts more than the session.
fn kept(experiment: &Experiment, fixed: &[Fixed], notices: &mut Vec<Notice>) -> Option<(usize, Because)> {
    let of = |because| {
        let mut named = fixed.iter().rev();
        named.find(|fixed| fixed.experiment == experiment.name && fixed.because == because)
    };
    let fixed = of(Because::Flag).or_else(|| of(Because::Session))?;
    let named = |variant: &Variant| *variant.weighted.name == *fixed.variant;
    let index = experiment.variants.iter().position(named);
    if index.is_none() {
        let at = experiment.variants.first()?.at.clone();
        let message = format!(
            "the session had variant `{}` of `{}`, which is not there any more; another is chosen",
            fixed.variant, experiment.name
        );
        notices.push(Notice::warning("variant-gone", at, message));
    }
    index.map(|index| (index, fixed.because))
}

/// Whether what a flag asks for is there.
fn known(experiments: &[Experiment], asked: &Fixed) -> Result<(), Refused> {
    let at = || Position::whole("--variant");
    let mend = |name: &str, names: Vec<&str>| match near_miss(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "no settings file declares any".to_owned(),
        None => format!("there are: {}", names.join(", ")),
    };
    let Some(experiment) = experiments.iter().find(|known| known.name == asked.experiment) else {
        let names = experiments.iter().map(|known| known.name.as_str()).collect();
        let message = format!(
            "there is no experiment `{}`",
            crate::visible::clipped(&asked.experiment, 60)
        );
        return Err(Notice::error("variant-unknown", at(), message)
            .mend(mend(&asked.experiment, names))
            .into());
    };
    let names: Vec<&str> = experiment
        .variants
        .iter()
        .map(|variant| &*variant.weighted.name)
        .collect();
    if names.contains(&asked.variant.as_str()) {
        return Ok(());
    }
    let shown = crate::visible::clipped(&asked.variant, 60);
    let message = format!("experiment `{}` has no variant `{shown}`", experiment.name);
    Err(Notice::error("variant-unknown", at(), message)
        .mend(mend(&asked.variant, names))
        .into())
}

impl Experiment {
    fn select(&self, chosen: &Variant, selection: &mut Selection) {
        let others = self.variants.iter().flat_map(|variant| &variant.sections);
        let others = others.filter(|key| !chosen.sections.contains(key)).cloned();
        match self.owner {
            Owner::User => {
                selection.written.extend(others);
                selection.all.extend(chosen.without.iter().cloned());
            }
            Owner::Project => {
                selection.project.extend(others);
                selection.project.extend(chosen.without.iter().cloned());
            }
        }
    }

    /// What variants name and nobody can have: sections that are not there, or that a repository may not
    /// switch off.
    pub fn problems(&self, composition: &Composition) -> Vec<Notice> {
        let (written, all) = composition.keys();
        let project: BTreeSet<&str> = composition.project().iter().map(|file| &*file.key).collect();
        let mut out = Vec::new();
        for variant in &self.variants {
            let named = variant.sections.iter().map(|key| (key, &written));
            let named = named.chain(variant.without.iter().map(|key| (key, &all)));
            for (key, there) in named {
                let shown = crate::visible::clipped(key, 60);
                if self.owner == Owner::Project
                    && !project.contains(key.as_str())
                    && all.contains(key.as_str())
                {
                    let message = format!(
                        "a repository's variant may not choose `{shown}`: that section is not its own"
                    );
                    let notice = Notice::error("variant-forbidden", variant.at.clone(), message);
                    out.push(notice.mend("declare the experiment in your own config.toml"));
                } else if !there.contains(key.as_str()) {
                    let message = format!(
                        "variant `{}` names section `{shown}`, which is not there",
                        variant.weighted.name
                    );
                    let notice = Notice::error("variant-section", variant.at.clone(), message);
                    let near = near_miss(key, there.iter().copied());
                    out.push(notice.mend(near.map_or_else(
                        || {
                            "sections are files in `.bindery/sections` or in your configuration folder"
                                .to_owned()
                        },
                        |near| format!("did you mean `{near}`?"),
                    )));
                }
            }
        }
        out
    }
}

/// What is recorded of a session's variants: the setting of the log, and back.
pub const SETTING: &str = "variant.";

/// The variants that a session's settings record.
pub fn of_session<'s>(settings: impl Iterator<Item = (&'s str, &'s str)>) -> BTreeMap<String, String> {
    let of = |(name, value): (&str, &str)| {
        let experiment = name.strip_prefix(SETTING)?;
        let variant: String = serde_json::from_str(value).ok()?;
        Some((experiment.to_owned(), variant))
    };
    settings.filter_map(of).collect()
}
