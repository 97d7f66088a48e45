mod innocent;
mod lists;
mod weakened;

use crate::{Changes, Snapshot, compare};

/// The files of one state: paths and texts.
type Files<'f> = &'f [(&'f str, &'f str)];

fn snapshot(files: Files<'_>) -> Snapshot {
    let mut snapshot = Snapshot::default();
    for (path, text) in files {
        snapshot.add(path, text);
    }
    assert!(snapshot.unread().is_empty(), "no Python: {:?}", snapshot.unread());
    snapshot
}

fn between(base: Files<'_>, head: Files<'_>) -> Changes {
    compare(&snapshot(base), &snapshot(head))
}

/// A file of tests whose one test has this body.
fn test_of(body: &str) -> String {
    let imports = "import math\nimport os\nimport sys\nimport unittest\nimport warnings\nfrom contextlib import suppress\nfrom unittest import mock\n\nimport numpy as np\nimport pytest\n\nimport shop\nfrom shop import Cart, check_out, total\n";
    let indented: Vec<String> = body.lines().map(|line| format!("    {line}")).collect();
    format!("{imports}\n\ndef test_it():\n{}\n", indented.join("\n"))
}

/// What became of a test with the one body when it got the other.
fn bodies(base: &str, head: &str) -> Changes {
    between(
        &[("tests/test_it.py", &test_of(base))],
        &[("tests/test_it.py", &test_of(head))],
    )
}
