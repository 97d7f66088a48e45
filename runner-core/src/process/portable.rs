//! Everywhere but on Linux.
