//! Files of one place that are cut as one text.

use std::ops::Range;

use super::caps::{Asked, cut_joined, measure};
use super::manifest::{Status, fill_path};
use super::reason::Reason;
use super::session::Session;
use crate::dialect::{CapAcross, Place};

impl Session<'_> {
    /// Cuts the files of a place as one text, where their cap says so.
    pub(super) fn cut_joined(&mut self, place: &Place, first: usize) {
        let name = place.files.iter().find_map(|files| files.cap.clone());
        let Some((name, cap)) = name.and_then(|name| Some((name.clone(), self.budget.cap(&name)?))) else {
            return;
        };
        if cap.across != CapAcross::Joined {
            return;
        }
        let sent: Vec<usize> = (first..self.files.len())
            .filter(|index| self.files.get(*index).is_some_and(|file| file.status.is_sent()))
            .collect();
        let (mut joined, mut ranges, mut must) = (String::new(), Vec::new(), Vec::new());
        for index in &sent {
            let Some(file) = self.files.get(*index) else {
                continue;
            };
            let heading = cap
                .heading
                .as_deref()
                .map(|heading| fill_path(heading, &file.path))
                .unwrap_or_default();
            if !joined.is_empty() {
                joined.push_str("\n\n");
            }
            joined.push_str(&heading);
            let start = joined.len();
            let text = file.text.as_deref().unwrap_or_default();
            joined.push_str(text);
            ranges.push(start..joined.len());
            let own = self.kept_first(text).into_iter();
            must.extend(own.map(|part| part.start + start..part.end + start));
        }
        let asked = Asked {
            path: &self.roots.cwd.clone(),
            raw: joined.as_bytes(),
            text: &joined,
            must: &must,
        };
        let limit = self.budget.limit(&name);
        let Some(kept) = cut_joined(cap, limit, asked) else {
            return;
        };
        for (index, range) in sent.into_iter().zip(ranges) {
            self.keep_part(index, &name, &joined, &range, &kept.ranges, limit);
        }
    }

    /// Leaves of one file what a cut of the joined text leaves.
    fn keep_part(
        &mut self,
        index: usize,
        cap: &str,
        joined: &str,
        range: &Range<usize>,
        kept: &[Range<usize>],
        limit: u64,
    ) {
        let parts: Vec<Range<usize>> = kept
            .iter()
            .map(|keep| keep.start.max(range.start)..keep.end.min(range.end))
            .filter(|part| part.start < part.end)
            .collect();
        let bytes: usize = parts.iter().map(ExactSizeIterator::len).sum();
        if bytes == range.len() {
            return;
        }
        let whole = joined.get(range.clone()).unwrap_or_default();
        let text: String = parts.iter().filter_map(|part| joined.get(part.clone())).collect();
        let own: Vec<_> = parts
            .iter()
            .map(|part| part.start - range.start..part.end - range.start)
            .collect();
        let units = (whole.chars().count() - text.chars().count()) as u64;
        let lost = measure(whole, &own, limit, "characters", units);
        let Some(path) = self.files.get(index).map(|file| file.path.clone()) else {
            return;
        };
        let must = self.must_keep(whole, "");
        self.note_cut(&path, Some(&cap.to_owned()), &lost);
        self.note_must_keep(&path, whole, &text, &must);
        self.set(
            index,
            Status::Cut,
            Reason::OverLimit,
            &format!("cut at {limit} characters, together with its neighbours"),
        );
        self.fill(index, text, Some(bytes as u64));
        if let Some(file) = self.files.get_mut(index) {
            file.lost = Some(lost);
        }
    }
}
