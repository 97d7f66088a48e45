//! What a process wrote of its stacks when the time limit came, cut to what a person looks for.

use std::path::Path;

/// Frames kept, innermost first.
const KEPT_LINES: usize = 40;

/// The lines of one stack without those of the reporter itself and of Python's `unittest` around it, files as seen from
/// the working folder. `None` if nothing is left.
pub(crate) fn shown(stack: &str, cwd: &Path, scratch: &Path) -> Option<String> {
    let (cwd, scratch) = (format!("{}/", cwd.display()), format!("{}/", scratch.display()));
    let machinery =
        |line: &&str| line.contains(&scratch) || line.contains("/unittest/") || line.contains("<frozen ");
    let lines = stack
        .lines()
        .filter(|line| !line.trim().is_empty() && !machinery(line));
    let lines: Vec<String> = lines
        .take(KEPT_LINES)
        .map(|line| line.replace(&cwd, ""))
        .collect();
    let is_frame = |line: &String| !line.contains("hread 0x");
    lines.iter().any(is_frame).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frames_of_the_runner_are_left_out() {
        let stack = "Current thread 0x00007f (most recent call first):
  File \"/r/test_h.py\", line 5 in wait
  File \"/usr/lib/python3.11/unittest/case.py\", line 579 in _callTestMethod
  File \"/s/unittest_events.py\", line 351 in runTests
";
        let shown = shown(stack, Path::new("/r"), Path::new("/s")).unwrap();
        assert_eq!(
            shown,
            "Current thread 0x00007f (most recent call first):\n  File \"test_h.py\", line 5 in wait"
        );
    }

    #[test]
    fn a_stack_without_a_frame_of_the_project_says_nothing() {
        let stack = "Thread 0x00007f (most recent call first):\n  File \"/s/x.py\", line 1 in f\n";
        assert_eq!(shown(stack, Path::new("/r"), Path::new("/s")), None);
    }
}
