//! The composition: sections of the system prompt from Markdown files with front matter.
//!
//! Three layers, nearest last: the default sections that ship with Bindery, the user's own, and the
//! project's. A nearer file shadows a farther one of the same key. A project's file may stand in the
//! system prompt only where the user granted its key; otherwise its text is delivered as a message.

mod builtin;
mod file;
mod folder;
mod header;
mod layers;
mod split;

pub use builtin::default_sections;
pub use file::{SectionFile, parse};
pub use folder::read_folder;
pub use header::FIELDS;
pub use layers::{Composition, Grants, Selection, compose};

pub(crate) use split::{is_fence, split, unclosed};

#[cfg(test)]
pub(crate) mod test_support;
#[cfg(test)]
mod tests;
