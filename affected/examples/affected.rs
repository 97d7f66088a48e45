//! `affected ROOT [PATH…]`: the tests that a change of these paths (none: what git says) reaches, as JSON.

use std::path::Path;

use runner_core::affected::{AffectedFinder, ChangedFile, Question};

#[expect(clippy::print_stdout, reason = "an example for the command line")]
fn main() {
    let mut words = std::env::args().skip(1);
    let root = words.next().unwrap_or_else(|| ".".to_owned());
    let question = Question {
        changed: words.map(ChangedFile::whole).collect(),
        ..Question::default()
    };
    match affected::Finder.find(Path::new(&root), &question) {
        Ok(found) => println!("{}", serde_json::to_string_pretty(&found).unwrap_or_default()),
        Err(error) => println!("{error}"),
    }
}
