//! Which texts need approval here.

use std::collections::BTreeSet;
use std::path::Path;

use bindery_core::ContentHash;

use super::compare::resolve;
use super::{Content, ContextLock, Entry, Item, Key, Kind, bytes_of};
use crate::composition::SectionFile;
use crate::dialect::Scope;
use crate::instructions::{Approval, Candidate, Manifest, Reason, Status};
use crate::places::Places;

/// The key of an instruction file.
pub fn instruction_key(file: &Candidate, places: &Places) -> Key {
    let importer = file.imported_by.last();
    Key {
        kind: if importer.is_some() {
            Kind::Import
        } else {
            Kind::Instructions
        },
        scope: file.scope,
        path: places.shown(&file.path),
        within: importer.map(|importer| places.shown(importer)),
    }
}

/// The key of a project's section.
pub fn section_key(file: &SectionFile) -> Key {
    Key {
        kind: Kind::Section,
        scope: Scope::Project,
        path: file.shown.to_string(),
        within: None,
    }
}

/// The instruction files that need approval: those of the repository that enter or may, and imports
/// that were let in or are refused because nobody did.
pub fn instructions(manifest: &Manifest, lock: &ContextLock, places: &Places) -> Vec<Item> {
    let mut items = Vec::new();
    for file in &manifest.files {
        let key = instruction_key(file, places);
        let foreign = !file.trust.may_command() || lock.get(&key).is_some();
        let takes_part = matches!(file.status, Status::Loaded | Status::Cut | Status::Waiting);
        if file.reason == Reason::OutsideImport {
            items.extend(unread(&file.path, key, Entry::Refused));
        } else if foreign && file.status == Status::Shadowed {
            // Another client would read it.
            items.extend(unread(&file.path, key, Entry::Elsewhere));
        } else if foreign
            && takes_part
            && let Some(hash) = file.hash.as_ref().and_then(|hash| hash.parse().ok())
        {
            items.push(Item {
                key,
                hash,
                content: Content::File(file.path.clone()),
                entry: Entry::Enters,
            });
        }
    }
    items
}

/// A file that the loader left alone.
fn unread(path: &Path, key: Key, entry: Entry) -> Option<Item> {
    let bytes = bytes_of(path)?;
    Some(Item {
        key,
        hash: ContentHash::of(&bytes),
        content: Content::File(path.to_owned()),
        entry,
    })
}

/// The project's sections.
pub fn sections(files: &[SectionFile]) -> Vec<Item> {
    let item = |file: &SectionFile| Item {
        key: section_key(file),
        hash: ContentHash::of(file.text.as_bytes()),
        content: Content::Text(file.text.to_string()),
        entry: Entry::Enters,
    };
    files.iter().map(item).collect()
}

/// The imports from outside the project that were approved and have not changed since, as the loader
/// asks for them.
pub fn verified_imports(lock: &ContextLock, places: &Places) -> BTreeSet<Approval> {
    let mut out = BTreeSet::new();
    for (key, hash) in lock.iter().filter(|(key, _)| key.kind == Kind::Import) {
        let Some(importer) = &key.within else { continue };
        let target = resolve(&key.path, places);
        if bytes_of(&target).is_some_and(|bytes| ContentHash::of(&bytes) == hash) {
            out.insert(Approval {
                scope: key.scope,
                importer: Some(resolve(importer, places)),
                target,
            });
        }
    }
    out
}
