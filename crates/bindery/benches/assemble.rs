//! Warm assembly with body serialisation, beside `serde_json::to_vec` of the same body as a value.

#![expect(
    clippy::unwrap_used,
    reason = "a bench that cannot run has nothing to measure"
)]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bindery::{
    AssembleOptions, Encoded, Params, Provider, Registration, Request, Scope, Session, conversation,
};
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Runs a future that never waits: the fixture's providers are ready at once.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("the fixture's providers are ready at once"),
    }
}

struct Warm {
    session: Session,
    messages: Vec<bindery::Message>,
    params: Params,
    _kept: Vec<Registration>,
}

impl Warm {
    fn new() -> Self {
        let scope = Scope::global();
        let kept = bindery::fixture::register(&scope).unwrap();
        let params = Params {
            stream: true,
            ..Params::new("model-1", 1024)
        };
        let messages = bindery::fixture::messages();
        let mut warm = Self {
            session: Session::new(scope),
            messages,
            params,
            _kept: kept,
        };
        warm.body(Provider::Anthropic);
        warm
    }

    fn body(&mut self, provider: Provider) -> Encoded {
        self.session.begin_step();
        let rendered = now(self.session.render(&AssembleOptions::default())).unwrap();
        let messages = conversation(&rendered.context, &self.messages);
        let tools = &rendered.assembly.tools;
        provider
            .encode(&Request {
                system: &rendered.system,
                tools,
                messages: &messages,
                params: &self.params,
            })
            .unwrap()
    }
}

#[divan::bench(args = Provider::ALL)]
fn warm_assembly(bencher: Bencher<'_, '_>, provider: Provider) {
    let mut warm = Warm::new();
    bencher.bench_local(|| black_box(warm.body(provider)));
}

#[divan::bench(args = Provider::ALL)]
fn to_vec_of_the_built_value(bencher: Bencher<'_, '_>, provider: Provider) {
    let body = Warm::new().body(provider).body;
    let value: serde_json::Value = serde_json::from_slice(&body).unwrap();
    bencher.bench_local(|| black_box(serde_json::to_vec(&value).unwrap()));
}
