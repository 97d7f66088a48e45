//! Pages of a run: rows in order, as many as fit in both halves, so that either half's `cursor` is right.

use runner_core::ops::Row;
use serde_json::{Value, json};

use super::fold::Shape;
use super::measure;
use super::parts::Parts;
use super::rows::Json;
use super::text::Text;

/// What a row's text may take at least, if there is room for one such row.
const LEAST_TEXT: usize = 400;

/// Shortens a page to the rows that fit in both halves, and says where the next one begins.
pub(super) fn fit(parts: &mut Parts, text: usize, structure: usize) {
    let smaller = text.min(structure);
    let fair = smaller / parts.rows.len().max(1);
    let most = smaller / 2;
    parts.row_cap = fair.clamp(LEAST_TEXT.min(most), most);
    let cap = parts.row_cap;
    let shown = fitting(&Text, &parts.rows, cap, text).min(fitting(&Json, &parts.rows, cap, structure));
    let hidden = parts.rows.len() - shown;
    parts.rows.truncate(shown);
    if hidden > 0 {
        begin_next_at(parts, shown);
    }
    nodeids(parts, smaller);
}

/// How many of the rows fit, from the first on.
fn fitting<S: Shape>(shape: &S, rows: &[Row], cap: usize, limit: usize) -> usize {
    let mut left = limit;
    let fits = |row: &&Row| match left.checked_sub(shape.size(&shape.row(row, cap))) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    rows.iter().take_while(fits).count()
}

/// A row too large for any page is passed over, else paging would never come to an end.
fn begin_next_at(parts: &mut Parts, shown: usize) {
    let next = parts.offset + shown.max(1);
    parts.fields.insert("cursor".to_owned(), json!(next.to_string()));
}

/// The same for a page of a list of tests.
fn nodeids(parts: &mut Parts, limit: usize) {
    let Some(Value::Array(nodeids)) = parts.fields.get_mut("nodeids") else {
        return;
    };
    let mut left = limit;
    let fits = |nodeid: &&Value| match left.checked_sub(measure::of(nodeid) + 8) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    let shown = nodeids.iter().take_while(fits).count();
    if shown < nodeids.len() {
        nodeids.truncate(shown);
        begin_next_at(parts, shown);
    }
}
