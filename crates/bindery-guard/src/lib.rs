//! Finds hostile or hidden text before a model reads it. Pure.
