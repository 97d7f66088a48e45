//! The command line with its help: what is the same for every command is said once, and each command shows how it is typed.

use clap::{Arg, Command, CommandFactory};

use crate::cli::Cli;

/// How each command is typed. A test parses every line.
const EXAMPLES: [(&str, &[&str]); 18] = [
    (
        "run",
        &[
            "qaas run",
            "qaas run tests/test_cart.py -x",
            "qaas run 'tests/test_cart.py::test_total'",
            "qaas run -k 'parse and not slow' -n auto",
            "qaas run --failed",
            "qaas run -s --pdb tests/test_cart.py",
            "qaas run --junit report.xml -- --durations=3 --cov=shop",
        ],
    ),
    ("repeat", &["qaas repeat tests/test_cart.py::test_total -n 20"]),
    (
        "affected",
        &[
            "qaas affected",
            "qaas affected --base main",
            "qaas affected src/shop/money.py:10-20",
        ],
    ),
    (
        "compare",
        &["qaas compare", "qaas compare --base main tests/test_cart.py"],
    ),
    (
        "coverage",
        &["qaas coverage", "qaas coverage --path src tests/test_cart.py"],
    ),
    ("list", &["qaas list", "qaas list tests/test_cart.py"]),
    (
        "show",
        &[
            "qaas show",
            "qaas show --test tests/test_cart.py::test_total",
            "qaas show --outcome failed",
            "qaas show --output --search warning --tail 20",
        ],
    ),
    ("runs", &["qaas runs -n 5"]),
    ("check", &["qaas check"]),
    (
        "init",
        &[
            "qaas init --dry-run",
            "qaas init --client claude-code --client vscode",
        ],
    ),
    ("doctor", &["qaas doctor"]),
    (
        "backend",
        &[
            "qaas backend list",
            "qaas backend add ./qaas-backend-spec",
            "qaas backend check spec",
        ],
    ),
    ("mcp", &["qaas mcp", "qaas mcp --http 127.0.0.1:8000"]),
    (
        "call",
        &[
            "qaas call run_suite --args '{\"selector\": \"tests\"}'",
            "qaas call get_run --args '{\"run_id\": \"last\", \"part\": \"output\"}'",
        ],
    ),
    ("trust", &["qaas trust --show", "qaas trust --revoke"]),
    ("schema", &["qaas schema"]),
    ("version", &["qaas version"]),
    ("help", &["qaas help run"]),
];

const ENVIRONMENT: &str = "\
Environment:
  QAAS_STATE_DIR  Where runs, trust and caches are kept (default: the user's state folder)
  NO_COLOR        No colours
  CI              A line of progress now and then instead of one that is rewritten";

const EXIT_CODES: &str = "\
Exit codes:
  0  passed, or all skipped          4  bad arguments, configuration, or untrusted
  1  tests failed                    5  no tests
  2  could not be judged (broken,    130  cancelled
     incomplete, time limit)";

/// The whole command line.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let globals: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| argument.is_global_set())
        .collect();
    let everywhere = described(&globals);
    let names: Vec<String> = command
        .get_subcommands()
        .map(|one| one.get_name().to_owned())
        .collect();
    let with_examples = |command: Command, name: &String| command.mut_subcommand(name, explained);
    names.iter().fold(command, with_examples).after_help(format!(
        "Options of every command:\n{everywhere}\n\n{ENVIRONMENT}\n\n{EXIT_CODES}"
    ))
}

/// A command whose help says how it is typed.
fn explained(command: Command) -> Command {
    const MORE: &str = "Options of every command (--root, --format, --backend, …): qaas help";
    let lines = EXAMPLES.iter().find(|(name, _)| *name == command.get_name());
    let lines: Vec<String> = lines
        .into_iter()
        .flat_map(|(_, lines)| lines.iter())
        .map(|line| format!("  {line}"))
        .collect();
    command.after_help(format!("Examples:\n{}\n\n{MORE}", lines.join("\n")))
}

/// One line an option.
fn described(arguments: &[&Arg]) -> String {
    let heads: Vec<String> = arguments.iter().map(|argument| head(argument)).collect();
    let width = heads.iter().map(String::len).max().unwrap_or_default();
    let lines = arguments.iter().zip(&heads).map(|(argument, head)| {
        let about = argument.get_help().map(ToString::to_string).unwrap_or_default();
        format!("  {head:width$}  {about}{}", possible(argument))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn head(argument: &Arg) -> String {
    let long = argument.get_long().unwrap_or_default();
    let value = argument
        .get_value_names()
        .filter(|_| argument.get_action().takes_values());
    match value.and_then(<[_]>::first) {
        Some(value) => format!("--{long} <{value}>"),
        None => format!("--{long}"),
    }
}

fn possible(argument: &Arg) -> String {
    let values: Vec<String> = argument
        .get_possible_values()
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect();
    match values.as_slice() {
        [] => String::new(),
        _ if !argument.get_action().takes_values() => String::new(),
        values => format!(": {}", values.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line as a shell takes it apart, as far as the examples need it.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quoted = false;
        for char in line.chars() {
            match char {
                '\'' => quoted = !quoted,
                ' ' if !quoted => words.push(String::new()),
                other => words.last_mut().unwrap().push(other),
            }
        }
        words
    }

    #[test]
    fn every_command_shows_how_it_is_typed_and_each_example_is_right() {
        for subcommand in command().get_subcommands() {
            let name = subcommand.get_name();
            assert!(
                EXAMPLES.iter().any(|(known, _)| *known == name),
                "no example of `{name}`"
            );
        }
        for (name, lines) in EXAMPLES.iter().filter(|(name, _)| *name != "help") {
            for line in *lines {
                let matches = command()
                    .try_get_matches_from(words(line))
                    .unwrap_or_else(|error| panic!("{line}: {error}"));
                assert_eq!(matches.subcommand_name(), Some(*name), "{line}");
            }
        }
    }

    #[test]
    fn what_is_the_same_for_every_command_is_said_once() {
        let mut all = command();
        all.build();
        let lines = all.render_help().to_string();
        // However wide it is.
        let whole = lines.split_whitespace().collect::<Vec<_>>().join(" ");
        for option in [
            "--root <DIR>",
            "--format <FORMAT>",
            "human, json, jsonl",
            "QAAS_STATE_DIR",
        ] {
            assert!(whole.contains(option), "{option}: {whole}");
        }
        let run = all.find_subcommand_mut("run").unwrap().render_help().to_string();
        assert!(!run.contains("--color") && run.contains("Examples:"), "{run}");
    }
}
