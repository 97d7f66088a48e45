//! What decorators and `pytestmark` say: parameters, skips, retries, filters, patches.

use std::collections::BTreeSet;

use source::python::Expr;

use super::calls::keyword;
use super::{Walker, argument};
use crate::fold::{number, truth};

/// More sets of parameters than this are taken for one of unknown number.
const MOST_CASES: usize = 100;

/// One set of parameters.
pub(super) struct Parameters {
    pub(super) key: String,
    pub(super) values: Vec<(String, Expr)>,
    /// Whether it stands for sets that are not written down.
    pub(super) open: bool,
}

#[derive(Default)]
pub(super) struct Marks {
    pub(super) muted: Option<String>,
    pub(super) retries: u32,
    pub(super) fails_on_warnings: bool,
    pub(super) patched: BTreeSet<String>,
    pub(super) used_fixtures: Vec<String>,
    pub(super) cases: Vec<Parameters>,
}

pub(super) fn read<'a>(marks: &[&'a Expr], walker: &mut Walker<'_, 'a>) -> Marks {
    let mut found = Marks {
        cases: vec![Parameters {
            key: String::new(),
            values: Vec::new(),
            open: false,
        }],
        ..Marks::default()
    };
    // The nearest mark is looked at last, and holds.
    for mark in marks.iter().rev() {
        found.mark(mark, walker);
    }
    found
}

impl Marks {
    fn mark<'a>(&mut self, mark: &'a Expr, walker: &mut Walker<'_, 'a>) {
        let (callee, args, keywords) = match mark {
            Expr::Call {
                callee,
                args,
                keywords,
            } => (&**callee, &args[..], &keywords[..]),
            bare => (bare, &[][..], &[][..]),
        };
        let said = walker.eval(callee).dotted().unwrap_or_default();
        let name = said.rsplit('.').next().unwrap_or_default();
        match name {
            "skip" => self.muted = Some(format!("@{said}")),
            "skipif" | "skipIf" if holds(args, walker) != Some(false) => {
                self.conditionally(&said, holds(args, walker));
            }
            "skipUnless" => self.conditionally(&said, holds(args, walker).map(|holds| !holds)),
            "xfail" | "expectedFailure" => {
                let condition = args.first().map(|_| holds(args, walker));
                self.conditionally(&said, condition.unwrap_or(Some(true)));
            }
            "parametrize" => self.parametrize(args, keywords, walker),
            "filterwarnings" => match args.first().and_then(Expr::as_text) {
                Some(filter) if filter.starts_with("error") => self.fails_on_warnings = true,
                Some(filter) if filter.starts_with("ignore") => self.fails_on_warnings = false,
                _ => {}
            },
            "usefixtures" => {
                self.used_fixtures
                    .extend(args.iter().filter_map(Expr::as_text).map(str::to_owned));
            }
            "given" => self.cases.iter_mut().for_each(|case| case.open = true),
            _ if is_retry(&said) => self.retries = self.retries.max(retry_count(args, mark)),
            _ => self.patched.extend(walker.patch_target(mark)),
        }
    }

    fn conditionally(&mut self, said: &str, condition: Option<bool>) {
        if condition == Some(true) {
            self.muted = Some(format!("@{said}"));
        }
    }

    fn parametrize<'a>(
        &mut self,
        args: &'a [Expr],
        keywords: &'a [source::python::Keyword],
        walker: &mut Walker<'_, 'a>,
    ) {
        let Some(names) = args
            .first()
            .or_else(|| keyword(keywords, "argnames"))
            .map(|names| walker.eval(names))
        else {
            return;
        };
        let names: Vec<String> = match &names {
            Expr::Row(_, names) => names
                .iter()
                .filter_map(Expr::as_text)
                .map(str::to_owned)
                .collect(),
            names => names
                .as_text()
                .unwrap_or_default()
                .split(',')
                .map(|name| name.trim().to_owned())
                .collect(),
        };
        let ids = keyword(keywords, "ids").map(|ids| walker.eval(ids));
        let ids: Vec<Option<String>> = ids
            .as_ref()
            .and_then(Expr::as_row)
            .map(|ids| ids.iter().map(|id| id.as_text().map(str::to_owned)).collect())
            .unwrap_or_default();
        let rows = args
            .get(1)
            .or_else(|| keyword(keywords, "argvalues"))
            .map(|rows| walker.eval(rows));
        let added = match rows.as_ref().and_then(Expr::as_row) {
            Some(rows) if rows.len() * self.cases.len() <= MOST_CASES => {
                let id = |place: usize| ids.get(place).cloned().flatten();
                rows.iter()
                    .enumerate()
                    .map(|(place, row)| parameters(&names, row, id(place)))
                    .collect()
            }
            _ => vec![Parameters {
                key: "…".to_owned(),
                values: Vec::new(),
                open: true,
            }],
        };
        self.cases = self
            .cases
            .iter()
            .flat_map(|case| added.iter().map(|more| both(case, more)))
            .collect();
    }
}

fn both(left: &Parameters, right: &Parameters) -> Parameters {
    Parameters {
        key: format!("{}-{}", left.key, right.key),
        values: left.values.iter().chain(&right.values).cloned().collect(),
        open: left.open || right.open,
    }
}

/// One row of parameters: a value, a tuple of them, or `pytest.param(…)`.
fn parameters(names: &[String], row: &Expr, id: Option<String>) -> Parameters {
    let (values, id) = match row {
        Expr::Call { callee, args, .. } if callee.dotted().is_some_and(|name| name.ends_with("param")) => (
            args.clone(),
            argument(row, "id")
                .and_then(Expr::as_text)
                .map(str::to_owned)
                .or(id),
        ),
        Expr::Row(_, values) if names.len() > 1 => (values.clone(), id),
        value => (vec![value.clone()], id),
    };
    Parameters {
        key: id.unwrap_or_else(|| {
            values
                .iter()
                .map(crate::render::render)
                .collect::<Vec<_>>()
                .join(",")
        }),
        values: names.iter().cloned().zip(values).collect(),
        open: false,
    }
}

fn holds<'a>(args: &'a [Expr], walker: &mut Walker<'_, 'a>) -> Option<bool> {
    truth(&walker.eval(args.first()?))
}

fn is_retry(said: &str) -> bool {
    let name = said.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    ["flaky", "retry", "rerun", "retries"]
        .iter()
        .any(|word| name.contains(word))
}

/// How often a failure is tried again, as the mark says; 1 if it does not.
fn retry_count(args: &[Expr], mark: &Expr) -> u32 {
    let named = [
        "reruns",
        "retries",
        "max_runs",
        "times",
        "attempts",
        "tries",
        "max_attempts",
    ];
    let given = named
        .iter()
        .find_map(|name| argument(mark, name))
        .or(args.first());
    given.and_then(number).map_or(1, |count| count as u32)
}
