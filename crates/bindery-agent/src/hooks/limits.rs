//! Context over the limit: refused, referred to, or split; and said so to the hook's author.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bindery_core::ContentHash;
use bindery_hooks::{Failure, Fitted, Over, fit};

/// A hook's context as it may enter.
pub(super) struct FittedContext {
    /// The pieces, in order.
    pub(super) contexts: Vec<String>,
    /// Its length in characters, where that is over the limit.
    pub(super) over: Option<usize>,
    /// What its author should know.
    pub(super) remark: Option<String>,
    /// Why nothing of it enters.
    pub(super) failure: Option<Failure>,
}

/// Fits a context into the limit. `keep` is the folder where the whole of one that is referred to lies; without
/// it a reference would lead nowhere, and the context is refused.
pub(super) fn fit_context(
    context: Option<String>,
    limit: usize,
    over: Over,
    keep: Option<&Path>,
) -> FittedContext {
    let mut out = FittedContext {
        contexts: Vec::new(),
        over: None,
        remark: None,
        failure: None,
    };
    let Some(context) = context else { return out };
    let over = if keep.is_none() && over == Over::Reference {
        Over::Error
    } else {
        over
    };
    match fit(&context, limit, over) {
        Fitted::Whole(text) => out.contexts.push(text),
        Fitted::Refused { length, limit } => out.refuse(length, limit),
        Fitted::Pieces(pieces) => {
            let length = context.chars().count();
            out.over = Some(length);
            out.remark = Some(format!(
                "its context has {length} characters and the limit is {limit}: it was split into {} pieces",
                pieces.len()
            ));
            out.contexts = pieces;
        }
        Fitted::Beginning { text, length, limit } => match keep.map(|folder| kept(folder, &context)) {
            Some(Ok(path)) => {
                let path = path.display();
                out.over = Some(length);
                out.remark = Some(format!(
                    "its context has {length} characters and the limit is {limit}: the beginning was passed on, the whole lies in {path}"
                ));
                out.contexts = vec![format!(
                    "{text}\n[{} of {length} characters are left out; the whole lies in {path}]",
                    length.saturating_sub(limit)
                )];
            }
            Some(Err(_)) | None => out.refuse(length, limit),
        },
    }
    out
}

impl FittedContext {
    fn refuse(&mut self, length: usize, limit: usize) {
        self.over = Some(length);
        let why = format!(
            "its context has {length} characters and the limit is {limit}: nothing of it was passed on"
        );
        self.failure = Some(Failure::BadOutput(why));
    }
}

fn kept(folder: &Path, context: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let path = folder.join(format!("{}.txt", ContentHash::of(context.as_bytes()).short()));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, context.as_bytes())?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(path)
}
