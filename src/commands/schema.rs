//! `qaas schema`: the JSON schema of `qaas.toml`.

use super::output::print_json;
use crate::cli::Format;
use ops::ExitCode;

pub(super) fn run() -> ExitCode {
    print_json(&engine::config::schema(), Format::Json);
    ExitCode::Passed
}
