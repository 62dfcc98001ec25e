//! Synthetic requests of the structure that agents send.
