//! Reads what `faulthandler` wrote about one process that hung or died: which test, which phase, which frames of the project.

use std::path::Path;

use runner_core::model::Phase;

/// Frames kept, innermost first.
const KEPT_FRAMES: usize = 40;

/// Parts of paths that tell the machinery's frames: pytest's, xdist's, and Python's own start-up.
const MACHINERY: [&str; 8] = [
    "/_pytest/",
    "/pytest/__main__.py",
    "/pluggy/",
    "/xdist/",
    "/execnet/",
    "<frozen ",
    "/qaas_reporter.py",
    "<string>",
];

/// One process's stack at the time limit.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Hang {
    /// An xdist worker writes its name and its test at the head of its file; the session's own process does not.
    pub(crate) worker: Option<(String, String)>,
    pub(crate) phase: Option<Phase>,
    /// Innermost frame first, a line each. `None` if there is no frame of the project.
    pub(crate) stack: Option<String>,
}

/// Reads a stack file. `None` if it says nothing (no test began there, nothing was dumped).
pub(crate) fn read(dump: &str, cwd: &Path) -> Option<Hang> {
    let dump_starts = |line: &&str| line.starts_with("Thread 0x") || line.starts_with("Current thread 0x");
    let head: Vec<&str> = dump.lines().take_while(|line| !dump_starts(line)).collect();
    let head = head.join("\n");
    let worker = head
        .split_once(' ')
        .map(|(name, nodeid)| (name.to_owned(), nodeid.to_owned()));
    let main = main_thread(dump.lines().skip_while(|line| !dump_starts(line)));
    if worker.is_none() && main.is_empty() {
        return None;
    }
    let frames: Vec<String> = main
        .iter()
        .filter(|line| of_the_project(line))
        .map(|line| shown(line, cwd))
        .collect();
    Some(Hang {
        worker,
        phase: phase(&main),
        stack: (!frames.is_empty()).then(|| frames[..frames.len().min(KEPT_FRAMES)].join("\n")),
    })
}

/// How Python begins to say where it died.
pub(crate) const FATAL: &str = "Fatal Python error: ";

/// What Python said when it died: why, and the frames of the project on the thread that died, innermost first. `lines` begin
/// with the one that has [`FATAL`] in it.
pub(crate) fn crash(lines: &[&str], cwd: &Path) -> Option<String> {
    let (_, why) = lines.first()?.split_once(FATAL)?;
    let current = lines.iter().position(|line| line.contains("Current thread 0x"))?;
    let frames = lines[current + 1..].iter().map(|line| line.trim());
    let frames = frames.take_while(|line| line.starts_with("File \""));
    let shown = frames
        .filter(|line| of_the_project(line))
        .map(|line| shown(line, cwd));
    let shown: Vec<String> = shown.take(KEPT_FRAMES).collect();
    (!shown.is_empty()).then(|| format!("{why}\n{}", shown.join("\n")))
}

/// The frames of the thread that runs the tests: the one with pytest's runner in it, else the last one of the dump
/// (faulthandler puts the main thread there).
fn main_thread<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut threads: Vec<Vec<&str>> = Vec::new();
    for line in lines {
        let line = line.trim();
        if line.contains("hread 0x") {
            threads.push(Vec::new());
        } else if let (true, Some(thread)) = (line.starts_with("File \""), threads.last_mut()) {
            thread.push(line);
        }
    }
    let runs_tests = |thread: &&Vec<&str>| thread.iter().any(|line| line.contains("/_pytest/"));
    let chosen = threads.iter().find(runs_tests).or(threads.last());
    chosen.cloned().unwrap_or_default()
}

fn of_the_project(line: &str) -> bool {
    !MACHINERY.iter().any(|part| line.contains(part))
}

/// `File "/repo/tests/test_a.py", line 3 in test_a` as `tests/test_a.py:3 in test_a`.
fn shown(line: &str, cwd: &Path) -> String {
    let parts = || {
        let rest = line.strip_prefix("File \"")?;
        let (file, rest) = rest.rsplit_once("\", line ")?;
        let (number, function) = rest.split_once(" in ")?;
        let file = Path::new(file).strip_prefix(cwd).unwrap_or(Path::new(file));
        Some(format!("{}:{number} in {function}", file.display()))
    };
    parts().unwrap_or_else(|| line.to_owned())
}

/// The phase by the innermost of pytest's own hooks.
fn phase(frames: &[&str]) -> Option<Phase> {
    frames.iter().find_map(|line| {
        let (_, function) = line.rsplit_once(" in ")?;
        match function {
            "pytest_runtest_setup" => Some(Phase::Setup),
            "pytest_runtest_call" => Some(Phase::Call),
            "pytest_runtest_teardown" => Some(Phase::Teardown),
            "pytest_collection" | "pytest_make_collect_report" => Some(Phase::Collect),
            _ => None,
        }
    })
}

#[cfg(test)]
#[path = "stack_tests.rs"]
mod tests;
