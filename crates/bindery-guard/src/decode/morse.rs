//! Morse code.

use super::Payload;
use crate::finding::Reading;
use crate::view::View;

/// Fewest letters that make a text.
const SHORTEST: usize = 10;

/// Decodes the Morse signs of a line; other words break the sequence.
pub(super) fn decode(text: &str, start: usize) -> Option<Payload> {
    let mut view = View::with_capacity(text.len() / 3);
    let mut letters = 0;
    let mut at = start;
    for token in text.split(' ') {
        if matches!(token, "/" | "|" | "//" | "") {
            view.push(b' ', at, token.len().max(1));
        } else if let Some(letter) = sign(token) {
            view.push(letter, at, token.len());
            letters += 1;
        } else {
            view.push(b'\n', at, token.len());
        }
        at += token.len() + 1;
    }
    let kinds = view
        .text()
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .collect::<std::collections::BTreeSet<_>>()
        .len();
    (letters >= SHORTEST && kinds >= 4).then_some(Payload::new(Reading::Morse, view))
}

fn sign(token: &str) -> Option<u8> {
    const SIGNS: [(&str, u8); 39] = [
        (".-", b'a'),
        ("-...", b'b'),
        ("-.-.", b'c'),
        ("-..", b'd'),
        (".", b'e'),
        ("..-.", b'f'),
        ("--.", b'g'),
        ("....", b'h'),
        ("..", b'i'),
        (".---", b'j'),
        ("-.-", b'k'),
        (".-..", b'l'),
        ("--", b'm'),
        ("-.", b'n'),
        ("---", b'o'),
        (".--.", b'p'),
        ("--.-", b'q'),
        (".-.", b'r'),
        ("...", b's'),
        ("-", b't'),
        ("..-", b'u'),
        ("...-", b'v'),
        (".--", b'w'),
        ("-..-", b'x'),
        ("-.--", b'y'),
        ("--..", b'z'),
        ("-----", b'0'),
        (".----", b'1'),
        ("..---", b'2'),
        ("...--", b'3'),
        ("....-", b'4'),
        (".....", b'5'),
        ("-....", b'6'),
        ("--...", b'7'),
        ("---..", b'8'),
        ("----.", b'9'),
        (".-.-.-", b'.'),
        ("--..--", b','),
        ("..--..", b'?'),
    ];
    SIGNS
        .iter()
        .find(|(sign, _)| *sign == token)
        .map(|(_, letter)| *letter)
}
