//! `qaas list`: which tests there are. Runs none.

use engine::policy::Policy;
use ops::{ExitCode, OpError, list_tests};
use runner_core::visible::visible;
use runner_core::words::count;

use super::output::{print, print_json, print_stderr};
use super::run::{conclude, fail, structured};
use super::{Context, signals};
use crate::cli::{Format, List};
use crate::display::Paint;

pub(super) async fn run(context: &Context, command: List) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let workspace = match context.workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let arguments = list_tests::Arguments {
        selectors: command.narrow.selectors,
        scope: command.narrow.place.scope(),
    };
    let runs = list_tests::run(&workspace, &arguments, signals::cancel(), &mut |_, _| {}).await;
    let runs = match runs {
        Ok(runs) => runs,
        Err(error) => return fail(&error, format, paint),
    };
    if format == Format::Human {
        for part in &runs.parts {
            if let Ok(answer) = &part.answer {
                let suite = runs.is_several.then_some(part.suite.as_str());
                show(answer, suite, paint);
            }
        }
        // Of a stream there is only the answer.
        return conclude(runs, format, paint);
    }
    let answer = runs.answer();
    let code = answer.as_ref().map_or_else(OpError::exit, |answer| answer.exit());
    print_json(&structured(answer), format);
    code
}

/// The ids on standard output, everything about them beside it.
fn show(answer: &list_tests::Answer, suite: Option<&str>, paint: Paint) {
    let shown: Vec<_> = answer.nodeids.iter().map(|nodeid| visible(nodeid)).collect();
    if !shown.is_empty() {
        print(&shown.join("\n"));
    }
    for error in &answer.collection_errors {
        print_stderr(&format!(
            "{} {}\n{}",
            paint.bold("could not be collected:"),
            visible(&error.nodeid),
            error.message
        ));
    }
    let tests = count(answer.total as u64, "test");
    let told = suite.map_or_else(|| tests.clone(), |suite| format!("suite {suite}: {tests}"));
    print_stderr(&paint.dim(&told));
}
