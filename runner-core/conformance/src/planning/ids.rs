//! Where selected ids come to stand. The plan for an odd id must be the plan for a plain one with the one name in the
//! other's place (quoted for a pattern at most): then no shell and no option parser gets to see it as anything else.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Finding, Subject, refused, shown};
use runner_core::backend::{Capability, Filters, Mode, RunRequest};
use runner_core::plan::{Plan, Step};

/// What the odd ids are compared with.
const PLAIN: &str = "qaas_plain_id";

/// How many ids a plan must carry.
const MANY: usize = 20_000;
/// What macOS takes as a whole command line; Linux takes more.
const LONGEST_COMMAND: usize = 1024 * 1024;
/// What Linux takes in one word.
const LONGEST_WORD: usize = 128 * 1024;

pub(super) fn plain(subject: &Subject) -> Result<String, String> {
    let odd = [
        "test a  b",
        "test_é_日本_😀",
        "test_x[a-b]",
        "Suite > case (x|y)",
        "test_x[ -k]",
        "test.*",
    ];
    each(subject, &odd, compare)
}

pub(super) fn shell(subject: &Subject) -> Result<String, String> {
    let odd = [
        "test_'single' \"double\"",
        "test_$(touch owned)",
        "test_`touch owned`",
        "test; touch owned & x | y > z",
        "test_%PATH% ${HOME} ~ # !x",
        "test_{scratch}{python}",
    ];
    each(subject, &odd, compare)
}

pub(super) fn colons(subject: &Subject) -> Result<String, String> {
    each(subject, &["test_x[a::b]", "test_x[::]"], |plain, odd, _| {
        shape(plain, odd)
    })
}

pub(super) fn options(subject: &Subject) -> Result<String, String> {
    lenient(subject, &["-rf", "--help", "@arguments", "-"])
}

pub(super) fn lines(subject: &Subject) -> Result<String, String> {
    lenient(subject, &["test_a\ntest_b", "test_a\r\n--help"])
}

/// Looks at the plan for a plain id, that for an odd one, and the odd one.
type Compare = fn(&Plan, &Plan, &Odd<'_>) -> Result<(), String>;

/// An odd id, and how much of it has to be found again.
struct Odd<'a> {
    text: &'a str,
    /// Ids that are names alone may bear an owner in front (`crate$name`), which the framework is not given.
    tail: bool,
}

impl Odd<'_> {
    /// Whether a text of the plain id's plan became this one by nothing but the other id.
    fn follows(&self, plain: &str, odd: &str) -> bool {
        let (renamed, odd) = (
            unquoted(&unquoted(plain).replace(PLAIN, self.text)),
            unquoted(odd),
        );
        renamed == odd || (self.tail && plain.contains(PLAIN) && !odd.is_empty() && renamed.ends_with(&odd))
    }
}

fn plan_of(subject: &Subject, name: &str) -> Result<Plan, runner_core::backend::BackendError> {
    subject.plan(&subject.of_names(&[name.to_owned()]))
}

fn odd_id<'a>(subject: &Subject, text: &'a str) -> Odd<'a> {
    Odd {
        text,
        tail: subject.can(Capability::Names),
    }
}

fn each(subject: &Subject, odd: &[&str], compare: Compare) -> Result<String, String> {
    let known = plan_of(subject, PLAIN).map_err(|error| refused(&error))?;
    for name in odd {
        let plan = plan_of(subject, name).map_err(|error| format!("{name:?} was {}", refused(&error)))?;
        compare(&known, &plan, &odd_id(subject, name)).map_err(|why| format!("{name:?}: {why}"))?;
    }
    Ok(format!("so with {} ids", odd.len()))
}

/// As [`each`], but an error in words is as good.
fn lenient(subject: &Subject, odd: &[&str]) -> Result<String, String> {
    let known = plan_of(subject, PLAIN).map_err(|error| refused(&error))?;
    let mut turned_away = 0;
    for name in odd {
        match plan_of(subject, name) {
            Ok(plan) => {
                compare(&known, &plan, &odd_id(subject, name)).map_err(|why| format!("{name:?}: {why}"))?;
            }
            Err(error) if error.message.trim().is_empty() => {
                return Err(format!("{name:?} was refused without a word"));
            }
            Err(_) => turned_away += 1,
        }
    }
    Ok(format!(
        "{turned_away} of {} refused, the others as they are",
        odd.len()
    ))
}

/// Removes the backslashes with which a pattern quotes.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' || chars.peek().is_none_or(|next| next.is_alphanumeric()) {
            out.push(c);
        }
    }
    out
}

/// Whether `odd` is `plain` with the odd id for the plain one, and nothing else.
fn compare(plain: &Plan, odd: &Plan, id: &Odd<'_>) -> Result<(), String> {
    shape(plain, odd)?;
    for (before, after) in plain.steps.iter().zip(&odd.steps) {
        for (before, after) in before.argv().iter().zip(&after.argv()) {
            if !id.follows(before, after) {
                return Err(format!("the word {before:?} became {after:?}"));
            }
        }
    }
    for (before, after) in plain.files.iter().zip(&odd.files) {
        let mut lines = before.contents.lines().zip(after.contents.lines());
        if !lines.all(|(before, after)| id.follows(before, after)) {
            return Err(format!(
                "the file {} became {:?}",
                after.path.display(),
                after.contents
            ));
        }
    }
    Ok(())
}

/// Whether both plans have the same steps, words, variables and lines; only those that bear the id may differ, and
/// none becomes an option by it.
fn shape(plain: &Plan, odd: &Plan) -> Result<(), String> {
    if plain.steps.len() != odd.steps.len() {
        return Err(format!(
            "{} steps instead of {}",
            odd.steps.len(),
            plain.steps.len()
        ));
    }
    for (before, after) in plain.steps.iter().zip(&odd.steps) {
        words(before, after)?;
        if before.env != after.env || before.env_prepend != after.env_prepend {
            return Err(format!("it stands in a variable: {:?}", after.env));
        }
    }
    let paths = |plan: &Plan| {
        plan.files
            .iter()
            .map(|file| file.path.clone())
            .collect::<Vec<_>>()
    };
    if paths(plain) != paths(odd) {
        return Err(format!("other files: {:?}", paths(odd)));
    }
    for (before, after) in plain.files.iter().zip(&odd.files) {
        let (before, now) = (before.contents.lines().count(), after.contents.lines().count());
        if before != now {
            return Err(format!(
                "{now} lines in {} instead of {before}",
                after.path.display()
            ));
        }
    }
    Ok(())
}

fn words(before: &Step, after: &Step) -> Result<(), String> {
    let (plain, odd) = (before.argv(), after.argv());
    if plain.len() != odd.len() {
        return Err(format!(
            "{} words instead of {}: {}",
            odd.len(),
            plain.len(),
            shown(&odd)
        ));
    }
    for (place, (before, after)) in plain.iter().zip(&odd).enumerate() {
        if !unquoted(before).contains(PLAIN) {
            if before != after {
                return Err(format!("the word {before:?} became {after:?}"));
            }
            continue;
        }
        if is_program_text(&plain, place) {
            return Err(format!("it is text of a program: {:?} of {}", after, shown(&odd)));
        }
        let option = after.chars().next().filter(|c| matches!(c, '-' | '@'));
        if option.is_some() && before.chars().next() != option {
            return Err(format!(
                "{after:?} would be taken for an option or an argument file"
            ));
        }
    }
    Ok(())
}

/// Whether the word at `place` is code for the program: `sh -c TEXT`, `python -c TEXT`, `node -e TEXT`.
fn is_program_text(argv: &[String], place: usize) -> bool {
    const READERS: [&str; 14] = [
        "sh",
        "bash",
        "dash",
        "zsh",
        "ksh",
        "fish",
        "cmd",
        "powershell",
        "pwsh",
        "python",
        "node",
        "perl",
        "ruby",
        "php",
    ];
    let name = |word: &String| {
        let name = Path::new(word)
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        name.trim_end_matches(".exe")
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
            .to_owned()
    };
    let flags = ["-c", "-e", "/c", "--eval", "-lc", "-ec", "-Command"];
    let Some(flag) = place.checked_sub(1) else {
        return false;
    };
    if !flags.contains(&argv[flag].as_str()) {
        return false;
    }
    // Between the program and its text stand only options: `ruby -S rspec -e NAME` is another thing.
    let before = argv[..flag].iter().rev().find(|word| !word.starts_with('-'));
    before.is_some_and(|word| READERS.contains(&name(word).as_str()))
}

pub(super) fn many(subject: &Subject) -> Finding {
    let names: Vec<String> = (0..MANY).map(|number| format!("qaas_id_{number:05}")).collect();
    let plan = match subject.plan(&subject.of_names(&names)) {
        Ok(plan) => plan,
        Err(error) if error.code == "too_many_ids" => {
            return Finding::Skipped(format!("it says that it cannot: {error}"));
        }
        Err(error) => return Finding::Failed(refused(&error)),
    };
    fits(&plan).into()
}

fn fits(plan: &Plan) -> Result<String, String> {
    let mut texts = Vec::new();
    for step in &plan.steps {
        let argv = step.argv();
        let bytes: usize = argv.iter().map(|word| word.len() + 1 + size_of::<usize>()).sum();
        if bytes > LONGEST_COMMAND {
            return Err(format!("a command line of {bytes} bytes"));
        }
        if let Some(word) = argv.iter().find(|word| word.len() >= LONGEST_WORD) {
            return Err(format!("a word of {} bytes", word.len()));
        }
        texts.extend(argv);
    }
    texts.extend(plan.files.iter().map(|file| file.contents.clone()));
    let mut there = BTreeSet::new();
    for text in &texts {
        let found = text.match_indices("qaas_id_");
        there.extend(found.filter_map(|(at, word)| text.get(at..at + word.len() + 5)));
    }
    match there.len() {
        // A command that takes files runs more than was asked for, and drops it when it reads.
        0 => Ok(format!("{} steps, by file", plan.steps.len())),
        MANY => Ok(format!("{} steps, {} files", plan.steps.len(), plan.files.len())),
        some => Err(format!("{some} of {MANY} ids in the plan")),
    }
}

pub(super) fn keyword(subject: &Subject) -> Result<String, String> {
    let plan_of = |expression: &str| {
        subject.plan(&RunRequest {
            filters: Filters {
                keyword: Some(expression.to_owned()),
                ..Filters::default()
            },
            ..subject.request(Mode::Run)
        })
    };
    let known = plan_of(PLAIN).map_err(|error| refused(&error))?;
    let mut turned_away = 0;
    let sound = ["a and not (b or c)", "x'y\" $(z)"];
    let options = ["-x", "--help"];
    for expression in sound.iter().chain(&options) {
        match plan_of(expression) {
            Ok(plan) => {
                let odd = Odd {
                    text: expression,
                    tail: false,
                };
                compare(&known, &plan, &odd).map_err(|why| format!("{expression:?}: {why}"))?;
            }
            Err(_) if options.contains(expression) => turned_away += 1,
            Err(error) => return Err(format!("{expression:?} was {}", refused(&error))),
        }
    }
    Ok(format!(
        "so with {} expressions, {turned_away} refused",
        sound.len() + options.len() - turned_away
    ))
}

pub(super) fn extra_args(subject: &Subject) -> Result<String, String> {
    let extra = ["--qaas-kit-option", "two words", "$(x)"].map(str::to_owned);
    let request = RunRequest {
        filters: Filters {
            extra_args: extra.to_vec(),
            ..Filters::default()
        },
        ..subject.request(Mode::Run)
    };
    let plan = match subject.plan(&request) {
        Ok(plan) => plan,
        Err(error) if !error.message.trim().is_empty() => return Ok(refused(&error)),
        Err(_) => return Err("refused without a word".to_owned()),
    };
    let argv = plan.steps.first().map(Step::argv).unwrap_or_default();
    if argv.windows(extra.len()).any(|words| words == extra) {
        Ok("they stand together as they are".to_owned())
    } else {
        Err(shown(&argv))
    }
}

pub(super) fn workers(subject: &Subject) -> Result<String, String> {
    let run = || subject.request(Mode::Run);
    let workers = RunRequest {
        filters: Filters {
            workers: Some("77".to_owned()),
            ..Filters::default()
        },
        ..run()
    };
    let markers = RunRequest {
        filters: Filters {
            markers: Some("not_77".to_owned()),
            ..Filters::default()
        },
        ..run()
    };
    let mut turned_away = 0;
    for (what, request) in [("workers", workers), ("markers", markers)] {
        match subject.plan(&request) {
            Err(error) if error.message.trim().is_empty() => {
                return Err(format!("`{what}` was refused without a word"));
            }
            Err(_) => turned_away += 1,
            Ok(plan) => {
                let argv = plan.steps.first().map(Step::argv).unwrap_or_default();
                if !argv.iter().any(|word| word.contains("77")) {
                    return Err(format!("`{what}` was passed over in silence: {}", shown(&argv)));
                }
            }
        }
    }
    Ok(format!("{turned_away} of 2 refused"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(argv: &[&str]) -> Plan {
        Plan {
            steps: vec![Step {
                name: "x".to_owned(),
                program: argv[0].into(),
                args: argv[1..].iter().map(|&word| word.to_owned()).collect(),
                ..Step::default()
            }],
            ..Plan::default()
        }
    }

    fn holds(plain: &[&str], odd: &[&str], name: &str) -> bool {
        let id = Odd {
            text: name,
            tail: false,
        };
        compare(&plan(plain), &plan(odd), &id).is_ok()
    }

    #[test]
    fn an_id_is_a_word_or_a_quoted_part_of_one() {
        assert!(holds(&["t", PLAIN], &["t", "a b"], "a b"));
        assert!(holds(&["t", "f::qaas_plain_id"], &["t", "f::$(x)"], "$(x)"));
        assert!(holds(&["t", "^qaas_plain_id$"], &["t", "^a\\.\\(b\\)$"], "a.(b)"));
        assert!(!holds(&["t", PLAIN], &["t", "a", "b"], "a b"), "split");
        assert!(
            !holds(&["t", PLAIN], &["t", "'a b'"], "a b"),
            "quoted for a shell"
        );
        assert!(!holds(&["t", PLAIN], &["t", "-rf"], "-rf"), "an option");
        assert!(holds(&["t", "--only=qaas_plain_id"], &["t", "--only=-rf"], "-rf"));
    }

    #[test]
    fn an_id_is_never_a_programs_text() {
        assert!(!holds(
            &["/bin/sh", "-c", "run qaas_plain_id"],
            &["/bin/sh", "-c", "run x"],
            "x"
        ));
        assert!(!holds(
            &["env", "bash", "-e", "-c", PLAIN],
            &["env", "bash", "-e", "-c", "x"],
            "x"
        ));
        assert!(!holds(
            &["python3.11", "-c", PLAIN],
            &["python3.11", "-c", "x"],
            "x"
        ));
        assert!(holds(
            &["sh", "-c", "run \"$@\"", "sh", PLAIN],
            &["sh", "-c", "run \"$@\"", "sh", "x"],
            "x"
        ));
        assert!(holds(
            &["ruby", "-S", "rspec", "-e", PLAIN],
            &["ruby", "-S", "rspec", "-e", "x"],
            "x"
        ));
    }

    #[test]
    fn many_ids_must_fit_and_all_be_there() {
        let ids: Vec<String> = (0..MANY).map(|number| format!("qaas_id_{number:05}")).collect();
        let words: Vec<&str> = std::iter::once("t")
            .chain(ids.iter().map(String::as_str))
            .collect();
        assert!(fits(&plan(&words)).is_ok());
        assert!(fits(&plan(&words[..100])).is_err(), "lost");
        assert!(fits(&plan(&["t", &ids.join(" ")])).is_err(), "one word");
    }
}
