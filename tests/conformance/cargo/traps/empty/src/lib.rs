//! No test in here.
