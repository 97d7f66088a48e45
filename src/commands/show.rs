//! `qaas show`: a stored run, read back.

use std::any::Any;

use engine::policy::Policy;
use ops::get_run::Page;
use ops::{Answer, ExitCode, OpError, Tool, Workspace};
use runner_core::visible::visible;
use serde_json::{Map, Value, json};

use super::output::{print, print_json};
use super::run::{fail, structured};
use super::{Context, signals};
use crate::cli::{Format, Show};
use crate::display::{Detail, Paint, Progress, Screen};

pub(super) async fn run(context: &Context, command: Show) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let shown = async {
        let workspace = context.no_exec_workspace(Policy::person())?;
        let of_output = command.output || command.search.is_some() || command.tail.is_some();
        if format != Format::Human || of_output || command.test.is_some() || command.outcome.is_some() {
            let (question, cancel) = (question(&workspace, &command)?, signals::cancel());
            let answer = ops::call(&workspace, Tool::GetRun, &question, cancel, &mut |_, _| {}).await?;
            return Ok(show_answer(format, paint, answer));
        }
        let report = ops::stored(&workspace, &command.run)?;
        // A reader that went away is no error.
        let _ = Screen::new(std::io::stdout(), paint, Detail::Failures, Progress::none()).whole(&report);
        Ok(ExitCode::Passed)
    };
    shown
        .await
        .unwrap_or_else(|error: OpError| fail(&error, format, paint))
}

fn question(workspace: &Workspace, command: &Show) -> Result<Map<String, Value>, OpError> {
    let test = match &command.test {
        Some(typed) => Some(ops::id_in(
            workspace,
            &*ops::stored(workspace, &command.run)?,
            typed,
        )),
        None => None,
    };
    let part = command.output.then_some("output");
    let question = json!({
        "run_id": command.run, "nodeid": test, "outcome": command.outcome, "part": part,
        "search": command.search, "tail": command.tail,
    });
    Ok(question.as_object().cloned().unwrap_or_default())
}

fn show_answer(format: Format, paint: Paint, answer: Answer) -> ExitCode {
    let page = (&*answer as &dyn Any).downcast_ref::<Page>();
    let Some(page) = page.filter(|_| format == Format::Human) else {
        print_json(&structured(Ok(answer)), format);
        return ExitCode::Passed;
    };
    if let Some(output) = page.output.as_ref().filter(|_| page.tests.is_empty()) {
        print(output.trim_end());
    }
    for row in &page.tests {
        let place = row.location.as_ref().filter(|_| row.is_bad());
        let place = place.map(|place| paint.dim(&format!("  {place}")));
        print(&format!(
            "{} {}{}",
            paint.outcome(row.outcome, &format!("{:<7}", row.outcome)),
            visible(&row.nodeid),
            place.unwrap_or_default()
        ));
        for text in [&row.message, &row.output].into_iter().flatten() {
            print(paint.indented(text.trim_end()).trim_end_matches('\n'));
        }
    }
    ExitCode::Passed
}
