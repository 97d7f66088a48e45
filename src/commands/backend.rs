//! `qaas backend list`: the backends there are, and what each can do.

use runner_core::backend::{BackendInfo, Need};
use runner_core::policy::Policy;
use serde_json::json;

use super::output::{print, print_json};
use super::run::fail;
use super::{Context, conformance};
use crate::cli::{Backend, Format};
use crate::exit;

pub(super) async fn run(context: &Context, command: &Backend) -> u8 {
    match command {
        Backend::List => list(context),
        Backend::Check(command) => conformance::run(context, command).await,
    }
}

fn list(context: &Context) -> u8 {
    let (format, paint) = (context.global.format, context.paint());
    let desk = match context.desk(Policy::person()) {
        Ok(desk) => desk,
        Err(error) => return fail(&error, format, paint),
    };
    let infos = desk.registry.infos();
    if format != Format::Human {
        print_json(&json!({ "backends": infos }), format);
        return exit::PASSED;
    }
    let width = infos.iter().map(|info| info.name.len()).max().unwrap_or_default();
    for info in &infos {
        let can: Vec<&str> = info
            .capabilities
            .iter()
            .map(|capability| capability.as_str())
            .collect();
        let needs = needs(info);
        print(&format!(
            "{:width$}  {}{}",
            info.name,
            can.join(", "),
            paint.dim(&needs)
        ));
    }
    exit::PASSED
}

fn needs(info: &BackendInfo) -> String {
    let words: Vec<String> = info
        .needs
        .iter()
        .map(|need| match need {
            Need::Python => "Python".to_owned(),
            Need::PythonPackage(name) | Need::NodePackage(name) | Need::Program(name) => name.clone(),
        })
        .collect();
    if words.is_empty() {
        String::new()
    } else {
        format!("  (needs {})", words.join(", "))
    }
}
