//! `qaas list`: which tests there are. Runs none.

use engine::policy::Policy;
use ops::{ExitCode, ToolAnswer, list_tests};
use runner_core::visible::visible;
use runner_core::words::count;

use super::output::{print, print_json, print_stderr};
use super::run::{fail, structured};
use super::{Context, signals};
use crate::cli::{Format, List};

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
    let answer = match list_tests::run(&workspace, arguments, signals::cancel(), &mut |_, _| {}).await {
        Ok(answer) => answer,
        Err(error) => return fail(&error, format, paint),
    };
    let code = answer.exit();
    if format != Format::Human {
        print_json(&structured(Ok(Box::new(answer))), format);
        return code;
    }
    let shown: Vec<_> = answer.nodeids.iter().map(|nodeid| visible(nodeid)).collect();
    print(&shown.join("\n"));
    for error in &answer.collection_errors {
        print_stderr(&format!(
            "{} {}\n{}",
            paint.bold("could not be collected:"),
            visible(&error.nodeid),
            error.message
        ));
    }
    print_stderr(&paint.dim(&count(answer.total as u64, "test")));
    code
}
