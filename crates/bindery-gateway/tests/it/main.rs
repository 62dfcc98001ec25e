//! The gateway over real connections on loopback.

mod clients;
mod log;
mod place;
mod relay;
mod shapes;
mod sim;
mod tap;
mod trouble;
