//! The gate that every text from outside passes before it may enter an assembly: scanned, judged by the
//! policy of its tier, and let in whole, under a label, with gaps, or not at all.
//!
//! Whatever happens is recorded by fragment and told in notices. The scanner is built when the first
//! text arrives, and once.

mod notices;
mod origin;
mod record;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bindery_core::{
    BoxFuture, ContentHash, Evaluation, ProviderError, SourceVersion, Text, TextProvider, Trust,
};
use bindery_guard::policy::{self, Approval, Policy, Stance};
use bindery_guard::{Finding, Scanner, scan};

use crate::lock::{ContextLock, Key};
use crate::notice::{Notice, Position};

pub use origin::Origin;
pub use record::{Outcome, Scan, Seen};

/// The gate of one session.
#[derive(Debug, Default)]
pub struct Gate {
    policy: Policy,
    approvals: ContextLock,
    scanner: Arc<OnceLock<Option<Scanner>>>,
    passed: Mutex<Passed>,
}

#[derive(Debug, Default)]
struct Passed {
    /// The hash of the text that was judged, and what came of it.
    by_fragment: BTreeMap<Arc<str>, (ContentHash, Scan, Option<String>)>,
    notices: Vec<Notice>,
}

/// A text at the gate.
pub struct Passage<'a> {
    /// The key of its fragment.
    pub fragment: &'a str,
    /// Its source as people name it, on one line.
    pub shown: &'a str,
    /// How far that is trusted.
    pub trust: Trust,
    /// Whether exactly these bytes were approved.
    pub approval: Approval,
    /// What lets it in if it is kept out.
    pub approve: &'a str,
    /// Where a line of the text stands.
    pub place: &'a dyn Fn(u32) -> Position,
}

impl Gate {
    /// A gate with a policy and the approvals that hold.
    pub fn new(policy: Policy, approvals: ContextLock) -> Self {
        Self {
            policy,
            approvals,
            ..Self::default()
        }
    }

    /// A gate of its own with another policy, which shares the scanner.
    #[cfg(test)]
    fn with_policy(&self, policy: Policy) -> Self {
        Self {
            policy,
            scanner: self.scanner.clone(),
            ..Self::default()
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The approvals that hold.
    pub fn approvals(&self) -> &ContextLock {
        &self.approvals
    }

    /// Whether exactly these bytes were approved.
    pub fn approval(&self, key: &Key, hash: ContentHash) -> Approval {
        if self.approvals.get(key) == Some(hash) {
            Approval::Given
        } else {
            Approval::Missing
        }
    }

    /// The text as it may enter. The same text of the same fragment is judged once.
    pub fn pass<'t>(&self, text: &'t str, passage: &Passage<'_>) -> Cow<'t, str> {
        if matches!(passage.trust, Trust::Builtin | Trust::Operator) {
            return Cow::Borrowed(text);
        }
        let hash = ContentHash::of(text.as_bytes());
        if let Some((before, _, replaced)) = self.lock().by_fragment.get(passage.fragment)
            && *before == hash
        {
            return replaced.clone().map_or(Cow::Borrowed(text), Cow::Owned);
        }
        let (scan, replaced, notices) = self.judge(text, passage);
        let mut passed = self.lock();
        passed.notices.extend(notices);
        passed
            .by_fragment
            .insert(passage.fragment.into(), (hash, scan, replaced.clone()));
        replaced.map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// What came of a fragment's text; nothing for one that did not pass here.
    pub fn scan_of(&self, fragment: &str) -> Option<Scan> {
        self.lock()
            .by_fragment
            .get(fragment)
            .map(|(_, scan, _)| scan.clone())
    }

    /// What there is to tell, each once.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.lock().notices)
    }

    /// What is found in a text that enters nothing, whatever the policy says of it.
    pub fn findings(&self, text: &str) -> Vec<Finding> {
        let scanner = self.scanner();
        scanner.map_or_else(Vec::new, |scanner| scan(text.as_bytes(), scanner).findings)
    }

    fn judge(&self, text: &str, passage: &Passage<'_>) -> (Scan, Option<String>, Vec<Notice>) {
        let Some(scanner) = self.scanner() else {
            return (Scan::not_scanned(), None, vec![notices::no_scanner(passage)]);
        };
        let findings = scan(text.as_bytes(), scanner).findings;
        let verdict = self.policy.decide(passage.trust, &findings, passage.approval);
        let line = |finding: &Finding| (passage.place)(crate::notice::number(finding.line)).line;
        // The name stands in text that the model reads, and a repository chose it.
        let file = bindery_core::marker::escape_foreign(passage.shown);
        let approve = bindery_core::marker::escape_foreign(passage.approve);
        let notes = policy::Notes {
            file: &file,
            approve: &approve,
            line: &line,
        };
        let replaced = policy::apply(&verdict, text, &findings, &notes);
        let told = if self.policy.stance(passage.trust) == Stance::Allow {
            Vec::new()
        } else {
            notices::of(&verdict, text, &findings, passage)
        };
        (Scan::of(&verdict, &findings, passage), replaced, told)
    }

    fn scanner(&self) -> Option<&Scanner> {
        self.scanner.get_or_init(|| Scanner::builtin().ok()).as_ref()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A provider whose text passes the gate each time it is computed.
pub struct Gated<P> {
    /// What computes the text.
    pub provider: P,
    /// The gate.
    pub gate: Arc<Gate>,
    /// The key of its fragment.
    pub fragment: &'static str,
    /// Its source as people name it.
    pub shown: &'static str,
    /// How far that is trusted.
    pub trust: Trust,
    /// What to do about text that is kept out.
    pub mend: &'static str,
}

impl<P: TextProvider> TextProvider for Gated<P> {
    fn version(&self) -> Option<SourceVersion> {
        self.provider.version()
    }

    fn text<'a>(&'a self, evaluation: &'a Evaluation) -> BoxFuture<'a, Result<Text, ProviderError>> {
        Box::pin(async move {
            let text = self.provider.text(evaluation).await?;
            let passage = Passage {
                fragment: self.fragment,
                shown: self.shown,
                trust: self.trust,
                approval: Approval::Missing,
                approve: self.mend,
                place: &|line| Position::line(self.shown, line),
            };
            Ok(match self.gate.pass(&text, &passage) {
                Cow::Borrowed(_) => text.clone(),
                Cow::Owned(other) => Text::from(other),
            })
        })
    }
}

#[cfg(test)]
mod tests;
