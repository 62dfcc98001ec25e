//! Connections to a server that does what a plan says, as a process and over HTTP.

#![cfg(test)]

mod calls;
mod connections;
mod planned;
mod real;
