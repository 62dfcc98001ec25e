//! Stores from outside: what each promises, what damage does, what a kill leaves.
#![cfg(test)]

mod common;
mod conformance;
mod damage;
mod exchange;
mod growth;
mod kill;
mod reference;
mod replay;
