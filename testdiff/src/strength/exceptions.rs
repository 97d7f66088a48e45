//! Expected exceptions and the patterns of their messages.

use source::python::Expr;

use super::{Turn, alike};
use crate::fold::is_literal;
use crate::render::render;

pub(super) fn bodies_like(old: &[Expr], new: &[Expr]) -> bool {
    old.is_empty() || new.is_empty() || old.iter().any(|call| new.iter().any(|other| alike(call, other)))
}

pub(super) fn exceptions(old: &[String], was: Option<&Expr>, new: &[String], is: Option<&Expr>) -> Turn {
    let covered = |name: &String, by: &[String]| by.iter().any(|wide| wide == name || is_above(wide, name));
    if old != new {
        let broader = old.iter().all(|name| covered(name, new)) && !new.iter().all(|name| covered(name, old));
        if broader {
            return Turn::Weaker(format!(
                "expected exception broadened: {} became {}",
                old.join(", "),
                new.join(", ")
            ));
        }
        // A narrower one asks more, whatever becomes of the text. One of the project's own for another may be the same
        // under a new name.
        let own = |names: &[String]| names.iter().all(|name| !is_builtin(name));
        let is_narrower = new.iter().all(|name| covered(name, old));
        let may_be_renamed = own(old) && own(new);
        if !(is_narrower || may_be_renamed) {
            return Turn::Rewritten;
        }
    }
    match (was, is) {
        (Some(was), None) if matches_something(was) => {
            Turn::Weaker(format!("the message of {} is no longer checked", new.join(", ")))
        }
        (Some(was), Some(is)) if is_less_of_a_pattern(was, is) => {
            Turn::Weaker(format!("pattern loosened: {} became {}", render(was), render(is)))
        }
        (Some(was), Some(is))
            if was != is && is_literal(was) && is_literal(is) && !is_more_of_a_pattern(was, is) =>
        {
            Turn::Rewritten
        }
        _ => Turn::Kept,
    }
}

fn matches_something(pattern: &Expr) -> bool {
    !pattern
        .as_text()
        .is_some_and(|text| matches!(text, "" | ".*" | "^" | ".+"))
}

/// Whether the new pattern is a part of the old, or matches everything.
pub(super) fn is_less_of_a_pattern(old: &Expr, new: &Expr) -> bool {
    match (old.as_text(), new.as_text()) {
        (Some(old), Some(text)) => {
            let unanchored = old.replace(['^', '$'], "");
            old != text && (old.contains(text) || !matches_something(new) || unanchored == text)
        }
        _ => false,
    }
}

fn is_more_of_a_pattern(old: &Expr, new: &Expr) -> bool {
    matches!((old.as_text(), new.as_text()), (Some(old), Some(new)) if new.contains(old))
}

/// Whether it is one of Python's own exceptions that tests expect.
fn is_builtin(name: &str) -> bool {
    const MORE: [&str; 14] = [
        "ValueError",
        "TypeError",
        "AttributeError",
        "RuntimeError",
        "OSError",
        "AssertionError",
        "StopIteration",
        "StopAsyncIteration",
        "SyntaxError",
        "MemoryError",
        "EOFError",
        "ImportError",
        "LookupError",
        "NameError",
    ];
    MORE.contains(&name)
        || matches!(
            name,
            "Exception"
                | "BaseException"
                | "ArithmeticError"
                | "SystemExit"
                | "KeyboardInterrupt"
                | "IOError"
                | "ConnectionError"
        )
        || [
            "LookupError",
            "ArithmeticError",
            "ValueError",
            "RuntimeError",
            "ImportError",
            "NameError",
            "OSError",
        ]
        .iter()
        .any(|wide| is_above(wide, name))
}

/// Whether Python's exception `wide` catches `narrow` without being it.
fn is_above(wide: &str, narrow: &str) -> bool {
    let of = |names: &[&str]| names.contains(&narrow);
    match wide {
        "BaseException" => true,
        "Exception" => !of(&[
            "BaseException",
            "KeyboardInterrupt",
            "SystemExit",
            "GeneratorExit",
        ]),
        "LookupError" => of(&["KeyError", "IndexError"]),
        "ArithmeticError" => of(&["ZeroDivisionError", "OverflowError", "FloatingPointError"]),
        "ValueError" => of(&[
            "UnicodeError",
            "UnicodeDecodeError",
            "UnicodeEncodeError",
            "JSONDecodeError",
        ]),
        "RuntimeError" => of(&["NotImplementedError", "RecursionError"]),
        "ImportError" => of(&["ModuleNotFoundError"]),
        "NameError" => of(&["UnboundLocalError"]),
        "OSError" | "IOError" | "EnvironmentError" => of(&[
            "FileNotFoundError",
            "FileExistsError",
            "PermissionError",
            "IsADirectoryError",
            "NotADirectoryError",
            "ConnectionError",
            "ConnectionRefusedError",
            "ConnectionResetError",
            "BrokenPipeError",
            "TimeoutError",
        ]),
        "ConnectionError" => of(&[
            "ConnectionRefusedError",
            "ConnectionResetError",
            "BrokenPipeError",
        ]),
        "Warning" => narrow.ends_with("Warning") && narrow != "Warning",
        _ => false,
    }
}
