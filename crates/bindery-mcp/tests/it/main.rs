//! Connections to a server that does what a plan says, as a process and over HTTP.

mod calls;
mod connections;
mod planned;
mod real;
