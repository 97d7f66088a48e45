//! `affected ROOT PATH…`: the tests that a change of these paths reaches, as JSON.

use std::path::Path;

use runner_core::affected::AffectedFinder;

#[expect(clippy::print_stdout, reason = "an example for the command line")]
fn main() {
    let mut words = std::env::args().skip(1);
    let root = words.next().unwrap_or_else(|| ".".to_owned());
    let changed: Vec<String> = words.collect();
    let found = affected::Finder.find(Path::new(&root), &changed);
    println!("{}", serde_json::to_string_pretty(&found).unwrap_or_default());
}
