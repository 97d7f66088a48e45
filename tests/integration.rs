//! Integration tests of the binary.
