//! A forward automaton that is determinised as it is used.

use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{Compiler, WhichCaptures};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

type NewCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// Tells where a match that starts at a given place ends.
#[derive(Debug)]
pub(super) struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, NewCache>,
}

impl Automaton {
    /// Compiles `hir`; nothing if it cannot be, which the test of the shipped patterns would show.
    pub(super) fn new(hir: &Hir) -> Option<Self> {
        let config = Compiler::new()
            .configure(
                regex_automata::nfa::thompson::Config::new()
                    .utf8(false)
                    .which_captures(WhichCaptures::None),
            )
            .build_from_hir(hir);
        let dfa = DFA::builder()
            .configure(
                DFA::config()
                    .match_kind(MatchKind::LeftmostFirst)
                    .minimum_cache_clear_count(None),
            )
            .build_from_nfa(config.ok()?)
            .ok()?;
        let template = dfa.clone();
        let new: NewCache = Box::new(move || template.create_cache());
        Some(Self {
            dfa,
            caches: Pool::new(new),
        })
    }

    /// The end of the match that starts at the start of `window`, read no further than its end.
    pub(super) fn end(&self, text: &[u8], window: Range<usize>) -> Option<usize> {
        let input = Input::new(text).span(window).anchored(Anchored::Yes);
        let mut cache = self.caches.get();
        self.dfa
            .try_search_fwd(&mut cache, &input)
            .ok()
            .flatten()
            .map(|found| found.offset())
    }

    /// Whether a match starts at the start of `window`.
    pub(super) fn fits(&self, text: &[u8], window: Range<usize>) -> bool {
        let input = Input::new(text)
            .span(window)
            .anchored(Anchored::Yes)
            .earliest(true);
        let mut cache = self.caches.get();
        self.dfa
            .try_search_fwd(&mut cache, &input)
            .is_ok_and(|found| found.is_some())
    }
}
