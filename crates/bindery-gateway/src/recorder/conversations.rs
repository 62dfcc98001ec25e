//! Conversations of agents that name no session, told apart by how their requests begin.

use std::collections::VecDeque;
use std::sync::Arc;

use bindery_cache::{Region, WireRequest};

/// How many conversations are remembered.
const MOST: usize = 32;
/// How many bytes of bodies are remembered for them.
const MOST_BYTES: usize = 24 * 1024 * 1024;

#[derive(Default)]
pub(super) struct Conversations {
    recent: VecDeque<Known>,
    count: u64,
}

struct Known {
    client: Option<Arc<str>>,
    number: u64,
    request: Arc<WireRequest>,
}

impl Conversations {
    /// The number of the conversation that a request goes on with, or a new one: what the user said first has to
    /// be the same, and of those the longest common beginning decides.
    pub(super) fn number(&mut self, client: Option<&Arc<str>>, request: &Arc<WireRequest>) -> u64 {
        let shared = |known: &Known| known.request.chain().shared(request.chain());
        let goes_on =
            |known: &Known| known.client.as_ref() == client && shared(known) > before_messages(request);
        let best = (0..self.recent.len())
            .filter_map(|at| Some((at, self.recent.get(at)?)))
            .filter(|(_, known)| goes_on(known))
            .max_by_key(|(_, known)| shared(known))
            .map(|(at, _)| at);
        let known = best.and_then(|at| self.recent.remove(at));
        let number = known.map_or(self.count + 1, |known| known.number);
        self.count = self.count.max(number);
        self.remember(Known {
            client: client.cloned(),
            number,
            request: request.clone(),
        });
        number
    }

    fn remember(&mut self, known: Known) {
        self.recent.push_back(known);
        let bytes = |all: &VecDeque<Known>| all.iter().map(|known| known.request.body().len()).sum::<usize>();
        while self.recent.len() > MOST || (self.recent.len() > 1 && bytes(&self.recent) > MOST_BYTES) {
            self.recent.pop_front();
        }
    }
}

/// How many segments stand before the conversation.
fn before_messages(request: &WireRequest) -> usize {
    let before = |segment: &&bindery_cache::Segment| segment.region != Region::Messages;
    request.segments().iter().take_while(before).count()
}

#[cfg(test)]
mod tests {
    use bindery_cache::typing::Typing;
    use bindery_cache::{Format, RequestReader};

    use super::*;

    #[test]
    fn conversations_go_on_by_their_beginning() {
        let reader = RequestReader::new(Typing::built_in().unwrap());
        let mut conversations = Conversations::default();
        let mut number = |client: &str, said: &[&str]| {
            let messages: Vec<_> = said
                .iter()
                .map(|text| serde_json::json!({"role": "user", "content": text}))
                .collect();
            let body = serde_json::json!({"model": "gpt-5.5", "messages": messages}).to_string();
            let request = reader.read(Format::OpenaiChat, body.as_bytes()).unwrap();
            conversations.number(Some(&client.into()), &request.into())
        };
        assert_eq!(number("a", &["one"]), 1);
        assert_eq!(number("a", &["two"]), 2);
        assert_eq!(number("b", &["one"]), 3);
        assert_eq!(number("a", &["one", "more"]), 1);
        assert_eq!(number("a", &["two", "more"]), 2);
        assert_eq!(number("a", &["one", "more", "still"]), 1);
    }
}
