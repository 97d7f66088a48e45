//! A list of tests that stays true where it is cut.

use serde::Serialize;

/// A list of nodeids with their number, which stays true where the list is cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ids {
    pub count: usize,
    pub ids: Vec<String>,
}

impl Ids {
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(super) fn of<'a>(ids: impl Iterator<Item = &'a str>) -> Self {
        let ids: Vec<String> = ids.map(str::to_owned).collect();
        Self {
            count: ids.len(),
            ids,
        }
    }
}
