//! `qaas affected`: which tests a change reaches. Runs nothing.

use std::io::IsTerminal;

use engine::policy::Policy;
use ops::{ExitCode, ToolAnswer, affected_tests};
use runner_core::affected::{AffectedTest, Confidence};

use super::Context;
use super::output::{print, print_json, print_stderr};
use super::run::{fail, structured};
use crate::cli::{Affected, Format};
use crate::display::Paint;

pub(super) async fn run(context: &Context, command: Affected) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let workspace = match context.no_exec_workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let arguments = affected_tests::Arguments {
        paths: command.paths,
        base: command.base,
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
    // Another program is given the names alone; what else is to be said goes past it.
    let is_for_people = command.why || std::io::stdout().is_terminal();
    for test in &answer.affected {
        print(&if is_for_people {
            line(test, paint)
        } else {
            test.test_file.clone()
        });
    }
    let mut said = Vec::new();
    if answer.affected.is_empty() {
        said.push(answer.headline());
    } else if !is_for_people {
        said.push(summary(&answer.affected));
    }
    let notes = answer.notes.iter().map(|note| format!("note: {note}"));
    for line in said.into_iter().chain(notes) {
        if is_for_people {
            print(&paint.dim(&line));
        } else {
            print_stderr(&line);
        }
    }
    ExitCode::Passed
}

/// `likely    tests/test_cart.py  uses shop.cart.Cart`
fn line(test: &AffectedTest, paint: Paint) -> String {
    let confidence = format!("{:<8}", test.confidence.word());
    let confidence = match test.confidence {
        Confidence::Possible => paint.dim(&confidence),
        Confidence::Certain | Confidence::Likely => paint.bold(&confidence),
    };
    format!(
        "{confidence}  {}  {}",
        test.test_file,
        paint.dim(&test.why.join("; "))
    )
}

/// `3 test files: 1 certain, 2 possible (--why says more)`
fn summary(affected: &[AffectedTest]) -> String {
    let all = [Confidence::Certain, Confidence::Likely, Confidence::Possible];
    let counts: Vec<String> = all
        .into_iter()
        .filter_map(|confidence| {
            let count = affected
                .iter()
                .filter(|test| test.confidence == confidence)
                .count();
            (count > 0).then(|| format!("{count} {}", confidence.word()))
        })
        .collect();
    let counts = counts.join(", ");
    format!("{} test files: {counts} (--why says more)", affected.len())
}
