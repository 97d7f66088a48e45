//! `qaas doctor`: looks at everything that a run and a client need, and says what to mend. Executes nothing of the
//! repository: what can be known by reading is read, and what is started is qaas itself.

mod machine;
mod repository;
mod schema;
mod server;
mod talk;

use std::time::Instant;

use engine::policy::Policy;
use serde_json::{Value, json};

use self::check::{Check, State};
use super::Context;
use super::output::{print, print_json};
use crate::cli::{Doctor, Format};
use crate::display::Paint;
use ops::ExitCode;

mod check;

pub(super) async fn run(context: &Context, command: &Doctor) -> ExitCode {
    let begun = Instant::now();
    let checks = all(context).await;
    let format = if command.json {
        Format::Json
    } else {
        context.global.format
    };
    if format == Format::Human {
        for check in &checks {
            print(&text(check, context.paint()));
        }
        print(&summary(&checks, context.paint()));
    } else {
        let values: Vec<Value> = checks.iter().map(Check::value).collect();
        let answer = json!({
            "status": worst(&checks).word(), "version": env!("CARGO_PKG_VERSION"),
            "duration_s": (begun.elapsed().as_secs_f64() * 1e3).round() / 1e3, "checks": values,
        });
        print_json(&answer, format);
    }
    let codes = checks.iter().filter(|check| check.state == State::Fail);
    ExitCode::worst(codes.map(|check| check.code).chain([ExitCode::Passed]))
}

async fn all(context: &Context) -> Vec<Check> {
    let mut checks = vec![machine::version()];
    let workspace = match context.no_exec_workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => {
            checks.push(Check::of_error("root", &error));
            return checks;
        }
    };
    checks.push(Check::ok("root", workspace.root.display().to_string()));
    checks.extend(repository::checks(&workspace));
    checks.push(machine::state(context));
    checks.extend(machine::supervision(&workspace).await);
    checks.push(machine::path(context, &workspace.root));
    checks.extend(server::checks(context, &workspace.root).await);
    checks
}

fn worst(checks: &[Check]) -> State {
    checks.iter().map(|check| check.state).max().unwrap_or_default()
}

fn text(check: &Check, paint: Paint) -> String {
    let mut lines = vec![format!(
        "{} {}  {}",
        check.state.painted(paint),
        paint.bold(&check.name),
        check.message
    )];
    lines.extend(
        check
            .notes
            .iter()
            .map(|note| format!("        {}", paint.dim(note))),
    );
    lines.extend(
        check
            .fix
            .iter()
            .map(|fix| format!("        {} {fix}", paint.bold("fix:"))),
    );
    lines.join("\n")
}

fn summary(checks: &[Check], paint: Paint) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    let counts: Vec<String> = [State::Fail, State::Warn, State::Ok, State::Skipped]
        .into_iter()
        .filter(|state| count(*state) > 0)
        .map(|state| format!("{} {}", count(state), state.word()))
        .collect();
    paint.bold(&counts.join(", "))
}
