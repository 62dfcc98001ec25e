//! The real clients, where they are installed.
