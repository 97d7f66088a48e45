//! What a second source knows of a session, beside pytest's text.

use std::collections::BTreeSet;

use runner_core::model::{CollectionError, TestResult};

/// Rows of one session from a source that names every test exactly (a report file), to be held against the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exact {
    pub results: Vec<Box<TestResult>>,
    /// Nodeids whose outcome has two readings there; the text decides.
    pub unsure: BTreeSet<String>,
    pub collection_errors: Vec<CollectionError>,
    /// The exit code that source knows of.
    pub exit_code: Option<i32>,
}
