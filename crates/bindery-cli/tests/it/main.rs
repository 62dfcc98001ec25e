//! The command as a user meets it: real repositories, the real binary, an environment of its own.

mod assemble;
mod lock;
mod place;
mod trust;
