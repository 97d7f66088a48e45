//! Reading `/proc`: who is there, and who descends from whom.

use std::collections::HashMap;

/// One process as one look at `/proc` showed it. Process id and start time together name it for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    pub(super) state: u8,
    pub(super) threads: u64,
    /// Clock ticks after boot.
    pub(super) start: u64,
    pub(super) name: String,
}

impl Process {
    pub(super) fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }

    /// By a signal; `T` is what `/proc` says of it.
    pub(super) fn is_stopped(&self) -> bool {
        self.state == b'T'
    }

    /// As answers name it. A process chooses its name, so only plain characters are kept.
    fn label(&self) -> String {
        let plain = |letter: char| {
            if letter.is_ascii_graphic() || letter == ' ' {
                letter
            } else {
                '?'
            }
        };
        format!(
            "{} ({})",
            self.name.chars().map(plain).collect::<String>(),
            self.pid
        )
    }
}

/// So many processes are named at most.
const NAMED: usize = 20;

/// The living of `processes`, as answers name them.
pub(super) fn labels(processes: &[Process]) -> Vec<String> {
    let mut labels: Vec<String> = processes
        .iter()
        .filter(|process| !process.is_zombie())
        .map(Process::label)
        .collect();
    if labels.len() > NAMED {
        let rest = labels.len() - NAMED;
        labels.truncate(NAMED);
        labels.push(format!("and {rest} more"));
    }
    labels
}

/// The process with this id, if there is one now.
pub(super) fn read(pid: i32) -> Option<Process> {
    parse_stat(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Every process that this user may see.
pub(super) fn all() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .collect()
}

/// Everyone in `all` below one of `roots`, the roots left out.
pub(super) fn descendants(all: &[Process], roots: &[i32]) -> Vec<Process> {
    let mut children: HashMap<i32, Vec<&Process>> = HashMap::new();
    for process in all {
        children.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut open = roots.to_vec();
    while let Some(parent) = open.pop() {
        // Taken out, so that a pid used again midway through the look cannot make a circle.
        for child in children.remove(&parent).unwrap_or_default() {
            open.push(child.pid);
            found.push(child.clone());
        }
    }
    found
}

/// Reads a line of `/proc/PID/stat`. The name may hold blanks and brackets, so it ends at the last `)`.
pub(super) fn parse_stat(stat: &[u8]) -> Option<Process> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(&stat[..open]).ok()?.trim().parse().ok()?;
    let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(&stat[close + 1..]).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        state: *fields.first()?.as_bytes().first()?,
        threads: fields.get(17)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
        name,
    })
}

#[cfg(test)]
mod tests {
    use super::{Process, descendants, labels, parse_stat, read};

    #[test]
    fn a_name_may_look_like_the_rest_of_the_line() {
        let stat = b"42 (a) R 1 (b)) S 7 42 41 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 3 0 9876 1000 1 18446744073709551615 1";
        let process = parse_stat(stat).unwrap();
        assert_eq!(process.name, "a) R 1 (b)");
        assert_eq!((process.pid, process.parent, process.session), (42, 7, 41));
        assert_eq!((process.state, process.threads, process.start), (b'S', 3, 9876));
    }

    #[test]
    fn a_torn_line_is_nobody() {
        assert_eq!(parse_stat(b"42 (a) S 7"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn living_processes_are_named_plainly_and_not_without_bound() {
        let process = |pid, state| Process {
            pid,
            parent: 1,
            group: 1,
            session: 1,
            state,
            threads: 1,
            start: 1,
            name: "a\u{1b}[31m b\u{202e}".to_owned(),
        };
        assert_eq!(labels(&[process(7, b'S'), process(8, b'Z')]), ["a?[31m b? (7)"]);
        let many: Vec<Process> = (0..25).map(|pid| process(pid, b'R')).collect();
        assert_eq!(labels(&many).len(), 21);
        assert_eq!(labels(&many)[20], "and 5 more");
    }

    #[test]
    fn this_process_is_there() {
        let me = read(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(!me.is_zombie());
        assert!(me.start > 0);
    }

    #[test]
    fn descendants_are_found_at_any_depth_and_circles_end() {
        let process = |pid, parent| Process {
            pid,
            parent,
            group: 1,
            session: 1,
            state: b'S',
            threads: 1,
            start: 1,
            name: String::new(),
        };
        let all = [
            process(2, 1),
            process(3, 2),
            process(4, 3),
            process(9, 8),
            process(5, 6),
            process(6, 5),
        ];
        let mut found: Vec<i32> = descendants(&all, &[2])
            .iter()
            .map(|process| process.pid)
            .collect();
        found.sort_unstable();
        assert_eq!(found, [3, 4]);
        assert_eq!(descendants(&all, &[5]).len(), 2);
    }
}
