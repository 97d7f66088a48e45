//! `qaas schema`: the JSON schema of `qaas.toml`.

use super::output::print_json;
use crate::cli::Format;
use crate::exit;

pub(super) fn run() -> u8 {
    print_json(&engine::config::schema(), Format::Json);
    exit::PASSED
}
