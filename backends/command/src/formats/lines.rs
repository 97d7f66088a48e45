//! `lines`: each line is the id of a test that exists. For listings.

use super::{LineReader, ReportItem};
use crate::id::Fields;

pub(super) struct Names;

impl LineReader for Names {
    fn line(&mut self, line: &str, said: &mut Vec<ReportItem>) {
        let name = line.trim();
        if !name.is_empty() {
            said.push(ReportItem::Found(Fields {
                name: name.to_owned(),
                ..Fields::default()
            }));
        }
    }

    fn end(&mut self, _said: &mut Vec<ReportItem>) -> Result<(), String> {
        Ok(())
    }
}
