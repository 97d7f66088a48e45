//! `qaas repeat`: one test many times, and how flaky it is.

use engine::policy::Policy;
use ops::{ExitCode, ToolAnswer, run_n_times};

use super::output::{print, print_json};
use super::run::{fail, structured};
use super::{Context, signals};
use crate::cli::{Format, Repeat};
use crate::display::Detail;

pub(super) async fn run(context: &Context, command: Repeat) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let mut workspace = match context.workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    if !command.no_warm {
        workspace.engine = workspace.engine.starting_ahead();
    }
    let arguments = run_n_times::Arguments {
        test_id: command.test_id,
        n: command.n,
        scope: command.place.scope(),
    };
    let mut watch = context.watch(Detail::Failures);
    let answer = run_n_times::run(&workspace, arguments, signals::cancel(), &mut |event, report| {
        watch.event(event, report);
    })
    .await;
    match answer {
        Ok(answer) => {
            let code = ExitCode::from(answer.status);
            let headline = answer.headline();
            match format {
                Format::Json => print_json(&structured(Ok(Box::new(answer))), format),
                Format::Human => print(&paint.bold(&headline)),
                Format::Jsonl => {}
            }
            code
        }
        Err(error) => fail(&error, format, paint),
    }
}
