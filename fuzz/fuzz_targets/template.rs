//! Rendering of templates: total, and equal to a naive second implementation.
//!
//! The input is split at NUL bytes: the template, then the values of `a`, `b` and `c`; a value that is
//! missing is undefined.

#![no_main]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bindery_core::{AssembleOptions, Evaluation, Scope, Section, Session, SessionError, references};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 3] = ["a", "b", "c"];

fuzz_target!(|input: &str| {
    let mut fields = input.split('\0');
    let template = fields.next().unwrap_or_default();
    let values: Vec<Option<&str>> = NAMES.iter().map(|_| fields.next()).collect();
    let rendered = render(template, &values);
    let expected = naive(template, &values);
    match (&rendered, &expected) {
        (Ok(text), Some(expected)) => assert_eq!(text, expected.trim_end()),
        (Err(SessionError::Render(error)), None) => {
            let lines = template.split('\n').count();
            assert!((1..=lines).contains(&(error.place.line as usize)));
            let line = template.split('\n').nth(error.place.line as usize - 1).unwrap_or_default();
            let at: String = line.chars().skip(error.place.column as usize - 1).collect();
            assert!(at.starts_with("{{"), "{error}");
            assert!(!error.to_string().is_empty());
        }
        _ => panic!("{rendered:?} {expected:?}"),
    }
    if expected.is_some() {
        let mut rest = template;
        for name in references(template) {
            let reference = format!("{{{{{name}}}}}");
            let at = rest.find(&reference).expect("references are named in order");
            rest = &rest[at + reference.len()..];
        }
    }
});

fn render(template: &str, values: &[Option<&str>]) -> Result<String, SessionError> {
    let scope = Scope::global();
    let _section = scope.section(Section::new("s", template)).expect("a valid section");
    let _variables: Vec<_> = NAMES
        .iter()
        .zip(values)
        .map(|(name, value)| {
            let value = value.map(str::to_owned);
            scope
                .variable(*name, move |_: &Evaluation| Ok(value.clone()))
                .expect("a valid variable")
        })
        .collect();
    let mut session = Session::new(scope);
    let options = AssembleOptions::default();
    let mut future = pin!(session.render(&options));
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(rendered) => rendered.map(|rendered| rendered.system.full_text()),
        Poll::Pending => panic!("no provider waits for anything"),
    }
}

/// What the template stands for, by hand; `None` for an error.
fn naive(template: &str, values: &[Option<&str>]) -> Option<String> {
    if template.trim().is_empty() {
        return Some(String::new());
    }
    let chars: Vec<char> = template.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < chars.len() {
        if chars[at..].starts_with(&['{', '{']) {
            let name = *chars.get(at + 2)?;
            if !chars[at + 3..].starts_with(&['}', '}']) {
                return None;
            }
            let which = NAMES.iter().position(|known| *known == name.to_string())?;
            out.push_str(values[which]?);
            at += 5;
        } else {
            out.push(chars[at]);
            at += 1;
        }
    }
    if out.trim().is_empty() { Some(String::new()) } else { Some(out) }
}
