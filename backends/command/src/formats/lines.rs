//! `lines`: each line is the id of a test that exists. For listings.

use super::{LineReader, Said};
use crate::id::Fields;

pub(super) struct Names;

impl LineReader for Names {
    fn line(&mut self, line: &str, said: &mut Vec<Said>) {
        let name = line.trim();
        if !name.is_empty() {
            said.push(Said::Found(Fields {
                name: name.to_owned(),
                ..Fields::default()
            }));
        }
    }

    fn end(&mut self, _said: &mut Vec<Said>) -> Result<(), String> {
        Ok(())
    }
}
