//! What a path asks for.

use bindery_cache::Format;
use hyper::Method;

/// What is asked of a provider, as far as it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// An answer of the model.
    Generate(Format),
    /// A count of tokens (Anthropic). Nothing is cached by it.
    CountTokens,
}

impl Operation {
    /// The operation of a path, whatever stands before it: providers and routers mount them at many places.
    /// `None` for what is passed through unread.
    pub fn of(method: &Method, path: &str) -> Option<Self> {
        if *method != Method::POST {
            return None;
        }
        let mut segments = path.trim_end_matches('/').rsplit('/');
        let (last, before) = (segments.next()?, segments.next().unwrap_or_default());
        match (before, last) {
            ("messages", "count_tokens") => Some(Self::CountTokens),
            ("chat", "completions") => Some(Self::Generate(Format::OpenaiChat)),
            (_, "responses") => Some(Self::Generate(Format::OpenaiResponses)),
            ("v1", "messages") => Some(Self::Generate(Format::Anthropic)),
            _ => None,
        }
    }

    /// The format of the request's body.
    pub fn format(self) -> Format {
        match self {
            Self::Generate(format) => format,
            Self::CountTokens => Format::Anthropic,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_known_wherever_they_are_mounted() {
        let of = |path| Operation::of(&Method::POST, path);
        assert_eq!(of("/v1/messages"), Some(Operation::Generate(Format::Anthropic)));
        assert_eq!(
            of("/anthropic/v1/messages"),
            Some(Operation::Generate(Format::Anthropic))
        );
        assert_eq!(of("/v1/messages/count_tokens"), Some(Operation::CountTokens));
        assert_eq!(
            of("/v1/responses/"),
            Some(Operation::Generate(Format::OpenaiResponses))
        );
        assert_eq!(
            of("/chat/completions"),
            Some(Operation::Generate(Format::OpenaiChat))
        );
        for other in ["/", "/v1/models", "/v1/threads/t/messages", "/v1/completions"] {
            assert_eq!(of(other), None, "{other}");
        }
        assert_eq!(Operation::of(&Method::GET, "/v1/responses"), None);
    }
}
