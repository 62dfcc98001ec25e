//! Token counters: exact tables where they are published, calibrated estimates elsewhere.
