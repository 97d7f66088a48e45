//! Why pytest did not do its work, in its own words: usage errors, names that do not exist, a broken conftest, a
//! missing package. Read from the two text streams, and only where the exit code says that there is something to
//! read: a test may print any of these sentences.

use runner_core::event::{Ending, EndingKind, ExitMeaning, TestEvent};
use runner_core::model::TestResult;
use runner_core::plan::StepExit;

use crate::captured::{CapturedOutput, option_name};
use crate::exit::{self, PytestExit};

/// Lines of an error that are quoted in a reason.
const QUOTED_LINES: usize = 12;

/// Options of well-known plug-ins, to say which one is missing.
const OPTION_OWNERS: [(&str, &str); 19] = [
    ("-n", "pytest-xdist"),
    ("--numprocesses", "pytest-xdist"),
    ("--dist", "pytest-xdist"),
    ("--cov", "pytest-cov"),
    ("--no-cov", "pytest-cov"),
    ("--timeout", "pytest-timeout"),
    ("--reruns", "pytest-rerunfailures"),
    ("--asyncio-mode", "pytest-asyncio"),
    ("--json-report", "pytest-json-report"),
    ("--benchmark", "pytest-benchmark"),
    ("--html", "pytest-html"),
    ("--ds", "pytest-django"),
    ("--reuse-db", "pytest-django"),
    ("--randomly", "pytest-randomly"),
    ("--snapshot-update", "syrupy"),
    ("--count", "pytest-repeat"),
    ("--record-mode", "pytest-recording"),
    ("--forked", "pytest-forked"),
    ("--disable-socket", "pytest-socket"),
];

/// What pytest's exit code and messages say of a run that did not go its way. `None` where pytest ran its tests (exit
/// 0 or 1), and for codes that are not pytest's, unless the text tells that pytest never began.
pub fn explain(exit: &StepExit, said: &CapturedOutput) -> Option<Ending> {
    match PytestExit::of(exit) {
        PytestExit::UsageError => Some(usage_error(said)),
        PytestExit::NoTests => Some(no_tests(said)),
        PytestExit::InternalError => Some(internal_error(said)),
        PytestExit::Interrupted => Some(interrupted(said)),
        PytestExit::TestsFailed | PytestExit::Foreign => never_began(said),
        PytestExit::Ok => None,
    }
}

/// The end of a run whose pytest stopped without finishing its session, where its text does not say why.
pub fn cut(exit: &StepExit) -> Ending {
    let reason = format!(
        "pytest's process {} without finishing its session",
        match exit.code {
            Some(code) => format!("ended (exit code {code})"),
            None => exit::in_words(exit),
        }
    );
    Ending::because(EndingKind::Cut, exit::meaning(exit), reason)
}

fn broken(reason: impl Into<String>) -> Ending {
    Ending::because(EndingKind::Broken, ExitMeaning::Other, reason)
}

/// Python or pytest gave up before any session: no pytest, a plug-in that cannot be imported.
fn never_began(said: &CapturedOutput) -> Option<Ending> {
    let last = said.stderr().rev().find(|line| !line.trim().is_empty())?;
    if last.ends_with("No module named pytest") {
        let python = last.split(": No module").next().unwrap_or("python");
        return Some(
            broken(format!("{python} has no pytest (No module named pytest)")).with_hint(format!(
                "install it there (`{python} -m pip install pytest`), or name another interpreter with `--python PATH`"
            )),
        );
    }
    if let Some(start) = last.find("Error importing plugin \"") {
        return Some(plugin_missing(&last[start..]));
    }
    None
}

fn plugin_missing(message: &str) -> Ending {
    broken(message).with_hint(
        "a plug-in named with `-p` (in the project's pytest configuration or the suite's `args`) is not installed for \
         this interpreter",
    )
}

fn usage_error(said: &CapturedOutput) -> Ending {
    let errors: Vec<&str> = said
        .stderr()
        .filter_map(|line| line.strip_prefix("ERROR: "))
        .collect();
    let missing: Vec<&str> = errors
        .iter()
        .copied()
        .filter(|text| names_nothing(text))
        .collect();
    if !missing.is_empty() {
        return Ending::because(EndingKind::NoTests, ExitMeaning::Other, several(&missing))
            .with_hint("list what exists with `list_tests` (`qaas list`)");
    }
    if let Some(text) = conftest_error(said) {
        return broken(text).with_hint("mend the conftest file: pytest loads it before any test");
    }
    if let Some(text) = said.stderr().rev().find_map(|line| line.split_once(": error: ")) {
        return wrong_argument(text.1, said);
    }
    match errors.last() {
        Some(text) if text.starts_with("Error importing plugin") => plugin_missing(text),
        Some(text) if text.starts_with("Missing required plugins") => broken(*text)
            .with_hint("install them for this interpreter: the project's configuration requires them"),
        // Since pytest 8 a bracket begins a parameter, also in a folder's name.
        Some(text) if text.starts_with("path cannot contain []") => {
            broken(format!("pytest refused to start: {text}"))
                .with_hint("pytest takes no path with `[` in a folder's name: give that folder as `cwd`")
        }
        Some(text) => broken(format!("pytest refused to start: {text}")),
        None => broken(format!(
            "pytest refused its arguments (exit code 4){}",
            quoted(said)
        )),
    }
}

/// pytest's words for a selector that names nothing, over the years.
fn names_nothing(text: &str) -> bool {
    const BEGINNINGS: [&str; 4] = [
        "not found: ",
        "file or directory not found: ",
        "found no collectors for ",
        "module or package not found: ",
    ];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

fn several(texts: &[&str]) -> String {
    const NAMED: usize = 5;
    let named = texts[..texts.len().min(NAMED)].join("; ");
    match texts.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}

fn conftest_error(said: &CapturedOutput) -> Option<String> {
    let lines: Vec<&str> = said
        .stderr()
        .skip_while(|line| !line.contains("ImportError while loading conftest"))
        .collect();
    let head = (*lines.first()?).to_owned();
    // The `E` lines hold the exception itself; the frames above them are in the output's tail.
    let errors = lines
        .iter()
        .filter(|line| line.starts_with("E "))
        .map(|line| line[1..].trim());
    let errors: Vec<&str> = errors.take(QUOTED_LINES).collect();
    Some(if errors.is_empty() {
        lines[..lines.len().min(QUOTED_LINES)].join("\n")
    } else {
        format!("{head}\n{}", errors.join("\n"))
    })
}

fn wrong_argument(text: &str, said: &CapturedOutput) -> Ending {
    let ending = broken(format!("pytest refused its arguments: {text}"));
    let Some(words) = text.strip_prefix("unrecognized arguments: ") else {
        return ending;
    };
    let first = words
        .split_whitespace()
        .find(|word| word.starts_with('-'))
        .unwrap_or(words);
    let giver = if said.caller_gave(first) {
        "it was given on the command line of this run".to_owned()
    } else if said.suite_gave(first) {
        "it stands in the suite's `args`".to_owned()
    } else {
        let file = said
            .stderr()
            .find_map(|line| line.trim().strip_prefix("inifile: "));
        match file.filter(|file| *file != "None") {
            Some(file) => format!("it stands in the `addopts` of {file} (or in PYTEST_ADDOPTS)"),
            None => "it stands in PYTEST_ADDOPTS".to_owned(),
        }
    };
    ending.with_hint(match owner(first) {
        Some(plugin) => {
            format!("{giver}; it belongs to {plugin}, which is not installed for this interpreter")
        }
        None => format!("{giver}; no installed plug-in knows it"),
    })
}

fn owner(word: &str) -> Option<&'static str> {
    let name = option_name(word);
    let owns = |option: &str| {
        name == option
            || name
                .strip_prefix(option)
                .is_some_and(|rest| rest.starts_with('-') && option.starts_with("--"))
            || (option == "-n"
                && name
                    .strip_prefix("-n")
                    .is_some_and(|count| count.parse::<u32>().is_ok()))
    };
    OPTION_OWNERS
        .iter()
        .find(|(option, _)| owns(option))
        .map(|(_, plugin)| *plugin)
}

fn no_tests(said: &CapturedOutput) -> Ending {
    let summary = said.stdout().rev().find(|line| line.contains(" deselected"));
    let count = summary.and_then(|line| {
        let before = line.split(" deselected").next()?;
        before
            .rsplit(|c: char| !c.is_ascii_digit())
            .next()?
            .parse::<u64>()
            .ok()
    });
    match count {
        Some(count) => deselected(count),
        None => Ending::because(
            EndingKind::NoTests,
            ExitMeaning::NoTests,
            "pytest collected no tests",
        ),
    }
}

/// Every collected test was set aside by an expression.
pub fn deselected(count: u64) -> Ending {
    let reason = format!("no test ran: pytest deselected all {count} tests it collected");
    Ending::because(EndingKind::NoTests, ExitMeaning::NoTests, reason)
        .with_hint("look at `-k` and `-m`, also in the `addopts` of the project's pytest configuration")
}

fn internal_error(said: &CapturedOutput) -> Ending {
    let lines = said.stdout().chain(said.stderr());
    let texts: Vec<&str> = lines
        .filter_map(|line| line.strip_prefix("INTERNALERROR> "))
        .collect();
    let last = texts.iter().rev().find(|text| !text.trim().is_empty());
    match last {
        Some(text) => broken(format!("pytest had an internal error: {}", text.trim())),
        None => broken(format!(
            "pytest had an internal error (exit code 3){}",
            quoted(said)
        )),
    }
}

fn interrupted(said: &CapturedOutput) -> Ending {
    let banner = said.stdout().rev().find_map(|line| {
        let text = line.strip_prefix('!')?.strip_suffix('!')?;
        Some(text.trim_matches(['!', ' ']))
    });
    if banner.is_some_and(|text| text.ends_with(LEFT_THE_DEBUGGER)) {
        return debugger(None);
    }
    let reason = match banner {
        Some(text) => format!("pytest was interrupted: {text}"),
        None => "pytest was interrupted (exit code 2)".to_owned(),
    };
    Ending::because(EndingKind::Interrupted, ExitMeaning::Other, reason)
}

/// What pytest says when its debugger is left.
pub const LEFT_THE_DEBUGGER: &str = "Quitting debugger";

/// A debugger was entered where nobody was there to talk to it.
const ALONE: &str = "the tests stopped in a debugger (`breakpoint()`, `--pdb`), and nobody was there to talk to it: their \
                     standard input is empty";

/// What to do about it.
fn alone_with(test: Option<&str>) -> String {
    let again = test.map_or_else(|| "`qaas run`".to_owned(), |test| format!("`qaas run '{test}'`"));
    format!("take the breakpoint out, or have a person run {again} at a terminal: there the debugger has it")
}

/// The end of a session that was left from within its debugger.
pub fn debugger(test: Option<&str>) -> Ending {
    Ending::because(EndingKind::Interrupted, ExitMeaning::Other, ALONE).with_hint(alone_with(test))
}

/// Explains tests that failed since their debugger heard nobody.
pub fn explain_debuggers(events: &mut Vec<TestEvent>, told: usize) {
    let heard_nobody = |result: &TestResult| {
        let mut summaries = result
            .failures
            .iter()
            .filter_map(|failure| failure.summary.as_deref());
        summaries.any(|summary| summary.starts_with("bdb.BdbQuit"))
    };
    let warnings: Vec<TestEvent> = events[told..]
        .iter()
        .filter_map(|event| match event {
            TestEvent::Finished(result) if heard_nobody(result) => Some(TestEvent::Warning {
                message: format!("{ALONE}; {}", alone_with(Some(&result.nodeid))),
            }),
            _ => None,
        })
        .collect();
    events.extend(warnings);
}

/// The last lines of standard error, as the end of a sentence.
fn quoted(said: &CapturedOutput) -> String {
    let mut lines: Vec<&str> = said
        .stderr()
        .rev()
        .filter(|line| !line.trim().is_empty())
        .take(3)
        .collect();
    if lines.is_empty() {
        return String::new();
    }
    lines.reverse();
    format!(": {}", lines.join("\n"))
}

#[cfg(test)]
#[path = "trouble_tests.rs"]
mod tests;
