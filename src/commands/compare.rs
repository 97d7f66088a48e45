//! `qaas compare`: what the change broke, and what it did to the tests.

use engine::policy::Policy;
use ops::{ExitCode, ToolAnswer, compare_with_base};
use runner_core::visible::visible;

use super::output::{print, print_json};
use super::run::{fail, structured};
use super::{Context, signals};
use crate::cli::{Compare, Format};
use crate::display::Paint;

pub(super) async fn run(context: &Context, command: Compare) -> ExitCode {
    let (format, paint) = (context.global.format, context.paint());
    let workspace = match context.workspace(Policy::person()) {
        Ok(workspace) => workspace,
        Err(error) => return fail(&error, format, paint),
    };
    let arguments = compare_with_base::Arguments {
        base: command.base,
        selectors: command.narrow.selectors,
        scope: command.narrow.place.scope(),
    };
    let answer = compare_with_base::run(&workspace, arguments, signals::cancel(), &mut |_, _| {}).await;
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => return fail(&error, format, paint),
    };
    let code = ExitCode::from(answer.status);
    if format == Format::Human {
        show(&answer, paint);
    } else {
        print_json(&structured(Ok(Box::new(answer))), format);
    }
    code
}

/// Each list that holds something, a test a line with what is to be said of it.
fn show(answer: &compare_with_base::Answer, paint: Paint) {
    let lists = &answer.lists;
    let named = |tests: &[compare_with_base::Named]| -> Vec<(String, String)> {
        tests
            .iter()
            .map(|test| (test.nodeid.clone(), String::new()))
            .collect()
    };
    let changed = |tests: &[compare_with_base::Changed]| -> Vec<(String, String)> {
        tests
            .iter()
            .map(|test| (test.nodeid.clone(), test.what.join("; ")))
            .collect()
    };
    let last_line = |text: &Option<String>| {
        let lines = text.as_deref().unwrap_or_default().lines();
        lines
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default()
            .trim()
            .to_owned()
    };
    let all = [
        (
            "broken here",
            lists
                .broken_here
                .iter()
                .map(|t| (t.nodeid.clone(), last_line(&t.message)))
                .collect(),
        ),
        ("broken before", named(&lists.broken_before)),
        ("fixed", named(&lists.fixed)),
        ("flaky", named(&lists.flaky)),
        (
            "muted",
            lists
                .muted
                .iter()
                .map(|t| (t.nodeid.clone(), t.how.clone()))
                .collect(),
        ),
        ("weakened", changed(&lists.weakened)),
        ("rewritten", changed(&lists.rewritten)),
        ("removed", named(&lists.removed)),
        (
            "renamed",
            lists
                .renamed
                .iter()
                .map(|t| (t.nodeid.clone(), format!("was {}", t.was)))
                .collect(),
        ),
        ("added", named(&lists.added)),
        (
            "not judged",
            lists
                .unjudged
                .iter()
                .map(|t| (t.nodeid.clone(), t.why.clone()))
                .collect::<Vec<_>>(),
        ),
    ];
    for (title, tests) in all.into_iter().filter(|(_, tests)| !tests.is_empty()) {
        print(&paint.bold(title));
        for (nodeid, said) in tests {
            print(&format!("  {}  {}", visible(&nodeid), paint.dim(&visible(&said))));
        }
    }
    for warning in &answer.warnings {
        print(&format!("{} {warning}", paint.dim("note:")));
    }
    print(&paint.bold(&answer.headline()));
}
