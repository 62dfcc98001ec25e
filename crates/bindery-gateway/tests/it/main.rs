//! The gateway over real connections on loopback.
#![cfg(test)]

mod clients;
mod log;
mod place;
mod relay;
mod shapes;
mod sim;
mod tap;
mod trouble;
