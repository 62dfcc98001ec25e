//! How much context one hook may give, and what becomes of more.

use serde::{Deserialize, Serialize};

/// What becomes of context over the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// It is refused: nothing of it reaches the model, and the hook has failed.
    Error,
    /// Its beginning is kept, with a reference to the whole.
    Reference,
    /// It is kept whole, in pieces of at most the limit.
    Split,
}

/// Context as it is delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fitted {
    /// Within the limit.
    Whole(String),
    /// Refused.
    Refused {
        /// Its length in characters.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// Its beginning; the whole is to be kept where the reference says.
    Beginning {
        /// What is delivered.
        text: String,
        /// Its length in characters.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// Pieces that together are the whole.
    Pieces(Vec<String>),
}

/// Fits context into `limit` characters.
pub fn fit(context: &str, limit: usize, over: Over) -> Fitted {
    let length = context.chars().count();
    if length <= limit {
        return Fitted::Whole(context.to_owned());
    }
    match over {
        Over::Error => Fitted::Refused { length, limit },
        Over::Reference => Fitted::Beginning {
            text: context.chars().take(limit).collect(),
            length,
            limit,
        },
        Over::Split => {
            let letters: Vec<char> = context.chars().collect();
            let pieces = letters.chunks(limit.max(1));
            Fitted::Pieces(pieces.map(|piece| piece.iter().collect()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edge_is_exact_and_nothing_vanishes_unsaid() {
        let (fits, over) = ("é".repeat(10_000), "é".repeat(10_001));
        assert_eq!(fit(&fits, 10_000, Over::Error), Fitted::Whole(fits.clone()));
        let refused = Fitted::Refused {
            length: 10_001,
            limit: 10_000,
        };
        assert_eq!(fit(&over, 10_000, Over::Error), refused);
        let Fitted::Pieces(pieces) = fit(&over, 10_000, Over::Split) else {
            panic!("no pieces")
        };
        assert_eq!(pieces.concat(), over);
        let Fitted::Beginning { text, length, .. } = fit(&over, 10_000, Over::Reference) else {
            panic!("no beginning")
        };
        assert_eq!((text, length), (fits, 10_001));
    }
}
