//! qaas: the command line.
fn main() {}
