//! What tests of this crate need to look at an assembly.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bindery_core::{AssembleOptions, Mode, Rendered, Scope, Session, SessionError};

/// Everything registered in a scope, rendered. Our providers are ready when first asked.
pub(crate) fn try_rendered(scope: &Scope, mode: Mode) -> Result<Rendered, SessionError> {
    let mut session = Session::new(scope.clone());
    session.begin_submission();
    let options = AssembleOptions {
        mode,
        ..AssembleOptions::default()
    };
    let future = pin!(session.render(&options));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => result,
        Poll::Pending => panic!("a provider was not ready"),
    }
}

pub(crate) fn rendered(scope: &Scope) -> Rendered {
    try_rendered(scope, Mode::Full).unwrap()
}
