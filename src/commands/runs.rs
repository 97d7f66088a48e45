//! `qaas runs`: the stored runs of a repository, newest first.

use engine::policy::Policy;
use engine::store::Summary;
use ops::ExitCode;
use runner_core::visible::visible;
use serde_json::{Value, json};

use super::Context;
use super::output::{print, print_json};
use super::run::fail;
use crate::cli::{Format, Runs};

pub(super) fn run(context: &Context, command: &Runs) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let workspace = match context.no_exec_workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let runs: Vec<Summary> = ops::stored_runs(&workspace)
        .into_iter()
        .take(command.most)
        .collect();
    if format != Format::Human {
        let runs: Vec<Value> = runs.iter().map(value).collect();
        print_json(&json!({ "runs": runs }), format);
        return ExitCode::Passed;
    }
    if runs.is_empty() {
        print("no run of this repository is stored yet");
    }
    for run in &runs {
        let facts = &run.facts;
        let status = paint.status(
            run.status,
            &format!("{:<11}", run.status.as_str().replace('_', " ")),
        );
        let caller = facts.caller.map_or("", |caller| caller.as_str());
        let asked = match facts.asked.as_slice() {
            [] => "everything".to_owned(),
            words => words.join(" "),
        };
        let about = format!("{} · {} · {}", facts.suite, facts.tool, visible(&asked));
        print(&format!(
            "{}  {}  {status}  {caller:<6}  {about}",
            facts.run_id, facts.started_at
        ));
    }
    ExitCode::Passed
}

fn value(run: &Summary) -> Value {
    let facts = &run.facts;
    json!({
        "run_id": facts.run_id,
        "started_at": facts.started_at,
        "status": run.status,
        "suite": facts.suite,
        "tool": facts.tool,
        "caller": facts.caller,
        "asked": facts.asked,
    })
}
