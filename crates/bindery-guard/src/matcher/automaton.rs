//! A forward automaton that is determinised as it is used.

use std::ops::Range;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchKind};

use crate::patterns::Program;

type NewCache = Box<dyn Fn() -> Cache + Send + Sync + std::panic::UnwindSafe + std::panic::RefUnwindSafe>;

/// Tells where a match that starts at a given place ends.
#[derive(Debug)]
pub(super) struct Automaton {
    dfa: DFA,
    caches: Pool<Cache, NewCache>,
}

impl Automaton {
    /// Builds a written-out [`Program`]; nothing if it is none, which the test of the shipped patterns
    /// would show.
    pub(super) fn new(program: &[u8]) -> Option<Box<Self>> {
        let program: Program = postcard::from_bytes(program).ok()?;
        let config = DFA::config()
            .match_kind(MatchKind::LeftmostFirst)
            .minimum_cache_clear_count(None);
        let dfa = DFA::builder()
            .configure(config)
            .build_from_nfa(program.automaton()?)
            .ok()?;
        let template = dfa.clone();
        let new: NewCache = Box::new(move || template.create_cache());
        let caches = Pool::new(new);
        Some(Box::new(Self { dfa, caches }))
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
}
