//! `qaas affected`: which tests a change reaches. Runs nothing.

use engine::policy::Policy;
use ops::{ExitCode, ToolAnswer, affected_tests};

use super::Context;
use super::output::{print, print_json};
use super::run::{fail, structured};
use crate::cli::{Affected, Format};

pub(super) async fn run(context: &Context, command: Affected) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let workspace = match context.no_exec_workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let arguments = affected_tests::Arguments {
        paths: command.paths,
        cwd: command.cwd,
    };
    let answer = match affected_tests::run(&workspace, arguments).await {
        Ok(answer) => answer,
        Err(error) => return fail(&error, format, paint),
    };
    if format != Format::Human {
        print_json(&structured(Ok(Box::new(answer))), format);
        return ExitCode::Passed;
    }
    for test in &answer.affected {
        print(&format!(
            "{}  {}",
            test.test_file,
            paint.dim(&test.why.join("; "))
        ));
    }
    if answer.affected.is_empty() {
        print(&answer.headline());
    }
    for note in &answer.notes {
        print(&format!("{} {note}", paint.dim("note:")));
    }
    ExitCode::Passed
}
