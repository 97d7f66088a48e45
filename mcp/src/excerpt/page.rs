//! Pages of a run: rows in order, as many as fit in both halves, so that either half's `cursor` is right.

use ops::{Row, ToolAnswer};
use serde_json::{Value, json};

use super::group::Shape;
use super::measure;
use super::parts::Parts;
use super::rows::Json;
use super::text::Text;

/// What a row's text may take at least, if there is room for one such row.
const LEAST_TEXT: usize = 400;

/// Shortens a page to the rows that fit in both halves, and says where the next one begins.
pub(super) fn fit(parts: &mut Parts, text: usize, structure: usize) {
    let Some(mut page) = parts.page.take() else { return };
    let smaller = text.min(structure);
    let fair = smaller / parts.rows.len().max(1);
    let most = smaller / 2;
    let cap = fair.clamp(LEAST_TEXT.min(most), most);
    let rows = fitting(&Text, &parts.rows, cap, text).min(fitting(&Json, &parts.rows, cap, structure));
    let ids = fitting_ids(&page.nodeids, smaller);
    if rows < parts.rows.len() || ids < page.nodeids.len() {
        // A row too large for any page is passed over, else paging would never come to an end.
        let next = page.offset + (rows + ids).max(1);
        if rows + ids == 0 {
            parts.fields.insert("omitted".to_owned(), json!({"too_large": 1}));
        }
        if page.matching.is_none_or(|matching| next < matching) {
            parts.fields.insert("cursor".to_owned(), json!(next.to_string()));
        }
    }
    if let Some(Value::Array(nodeids)) = parts.fields.get_mut("nodeids") {
        nodeids.truncate(ids);
    }
    page.nodeids.truncate(ids);
    parts.rows.truncate(rows);
    page.tests = std::mem::take(&mut parts.rows);
    parts.headline = page.headline();
    parts.rows = std::mem::take(&mut page.tests);
    parts.row_cap = cap;
    parts.page = Some(page);
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

/// The same for a list of tests.
fn fitting_ids(nodeids: &[String], limit: usize) -> usize {
    let mut left = limit;
    let fits = |nodeid: &&String| match left.checked_sub(measure::of_text(nodeid) + 10) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    nodeids.iter().take_while(fits).count()
}
