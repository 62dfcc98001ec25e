//! What tests of several modules share: driving futures with the standard library alone, and providers
//! that count and yield.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context as Waking, Poll, Waker};

use crate::registry::{BoxFuture, Evaluation, ProviderError, SourceVersion, TextProvider};
use crate::{
    AssembleOptions, Body, Rendered, Scope, Session, SessionError, Source, Text, ToolProvider, ToolSet,
};

/// Polls to the end. Providers in tests are always ready again at once, so nobody has to wake us.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut waking = Waking::from_waker(Waker::noop());
    for _ in 0..10_000 {
        if let Poll::Ready(out) = future.as_mut().poll(&mut waking) {
            return out;
        }
    }
    panic!("the future never became ready");
}

/// Pending a number of times, then ready.
pub(crate) struct Yield(pub(crate) u32);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, waking: &mut Waking<'_>) -> Poll<()> {
        if self.0 == 0 {
            return Poll::Ready(());
        }
        self.0 -= 1;
        waking.waker().wake_by_ref();
        Poll::Pending
    }
}

/// How often something was called. Clones count together.
#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<AtomicU64>);

impl Calls {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(crate) fn add(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A body that counts its evaluations and says `text`.
    pub(crate) fn body(&self, text: &'static str) -> Body {
        let calls = self.clone();
        Body::compute(move |_| {
            calls.add();
            Ok(text.to_owned())
        })
    }

    /// A variable that counts its evaluations.
    pub(crate) fn variable(
        &self,
        value: &'static str,
    ) -> impl Fn(&Evaluation) -> Result<Option<String>, ProviderError> + Send + Sync + 'static {
        let calls = self.clone();
        move |_| {
            calls.add();
            Ok(Some(value.to_owned()))
        }
    }

    /// A tool provider that counts its evaluations.
    pub(crate) fn tools(&self, set: ToolSet) -> impl ToolProvider + 'static {
        let calls = self.clone();
        move |_: &Evaluation| {
            calls.add();
            Ok(set.clone())
        }
    }
}

/// Text and version that a test sets from outside; yields before it answers.
#[derive(Clone, Default)]
pub(crate) struct Dial {
    pub(crate) calls: Calls,
    pub(crate) text: Arc<std::sync::Mutex<String>>,
    pub(crate) version: Arc<std::sync::Mutex<Option<u128>>>,
}

impl Dial {
    pub(crate) fn new(text: &str, version: Option<u128>) -> Self {
        let dial = Self::default();
        dial.say(text);
        dial.at(version);
        dial
    }

    pub(crate) fn say(&self, text: &str) {
        text.clone_into(&mut self.text.lock().unwrap());
    }

    pub(crate) fn at(&self, version: Option<u128>) {
        *self.version.lock().unwrap() = version;
    }

    pub(crate) fn body(&self) -> Body {
        Body::provider(self.clone())
    }
}

impl TextProvider for Dial {
    fn version(&self) -> Option<SourceVersion> {
        self.version.lock().unwrap().map(SourceVersion)
    }

    fn text<'a>(&'a self, _: &'a Evaluation) -> BoxFuture<'a, Result<Text, ProviderError>> {
        Box::pin(async move {
            self.calls.add();
            Yield(3).await;
            Ok(Text::from(self.text.lock().unwrap().as_str()))
        })
    }
}

pub(crate) fn render(scope: &Scope) -> Result<Rendered, SessionError> {
    render_with(scope, &AssembleOptions::default())
}

pub(crate) fn render_with(scope: &Scope, options: &AssembleOptions) -> Result<Rendered, SessionError> {
    block_on(Session::new(scope.clone()).render(options))
}

/// Every byte that a request would take from this assembly, with what provenance says of it.
pub(crate) fn bytes(rendered: &Rendered) -> String {
    use std::fmt::Write;
    let mut out = rendered.system.full_text();
    let context = &rendered.context;
    let snapshot = context.snapshot.iter().flat_map(|snapshot| &snapshot.fragments);
    let messages = snapshot.chain(&context.reminders).chain(&context.messages);
    for fragment in rendered
        .system
        .fragments()
        .iter()
        .chain(rendered.system.tail())
        .chain(messages)
    {
        let json = serde_json::to_string(fragment).unwrap();
        writeln!(out, "\n{json}").unwrap();
    }
    for tool in &rendered.assembly.tools {
        writeln!(
            out,
            "{} {} {}",
            tool.name(),
            tool.description(),
            tool.parameters()
        )
        .unwrap();
    }
    writeln!(out, "{:?}", rendered.assembly.shadowed).unwrap();
    out
}

pub(crate) fn file(path: &str, lines: Option<(u32, u32)>) -> Source {
    Source::File {
        path: path.into(),
        lines,
    }
}
