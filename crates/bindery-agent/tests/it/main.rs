//! The loop on a log in memory and a model that is made up. Nothing here waits.
#![cfg(test)]

mod app_server;
mod capacity;
mod common;
mod control;
mod crash;
mod failures;
mod mcp;
mod memory;
mod outside;
mod steps;
mod subagents;
