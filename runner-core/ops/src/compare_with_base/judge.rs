//! From what ran on both sides, and what the sources tell, to whose each failure is. Pure.

use std::collections::{BTreeMap, BTreeSet};

use runner_core::change::TestChanges;
use runner_core::model::Outcome;
use serde::{Deserialize, Serialize};

/// What one side's runs said.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Side {
    /// Outcomes of each test (and of each collector that did not collect), in the order of the runs.
    pub(super) outcomes: BTreeMap<String, Vec<Outcome>>,
    /// The text of each first failure or skip.
    pub(super) messages: BTreeMap<String, String>,
    /// Tests that began and did not end.
    pub(super) unfinished: BTreeSet<String>,
    /// Why tests may be missing that are there; none if the run went through.
    pub(super) cut_short: Option<String>,
}

/// A test whose failure is the change's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    pub nodeid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A test, where no more is to be said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    pub nodeid: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Renamed {
    pub nodeid: String,
    pub was: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Muted {
    pub nodeid: String,
    pub how: String,
}

/// A test that was weakened or rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    pub nodeid: String,
    pub what: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unjudged {
    pub nodeid: String,
    pub why: String,
}

/// What became of the tests, list by list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lists {
    /// Failing here and not at the base: new failing tests too.
    pub broken_here: Vec<Broken>,
    pub broken_before: Vec<Named>,
    pub fixed: Vec<Named>,
    /// Now so, now so, at one side or both.
    pub flaky: Vec<Named>,
    pub added: Vec<Named>,
    pub removed: Vec<Named>,
    pub renamed: Vec<Renamed>,
    /// Ran at the base, and now is skipped, expected to fail or no longer collected.
    pub muted: Vec<Muted>,
    /// Can fail in fewer ways.
    pub weakened: Vec<Changed>,
    /// Expects something else.
    pub rewritten: Vec<Changed>,
    pub unjudged: Vec<Unjudged>,
}

/// A test's id without its parameters.
pub(super) fn bare(nodeid: &str) -> &str {
    let names = nodeid.find("::").map_or(nodeid.len(), |at| at + 2);
    nodeid[names..]
        .find('[')
        .map_or(nodeid, |at| &nodeid[..names + at])
}

fn file_of(nodeid: &str) -> &str {
    nodeid.split("::").next().unwrap_or(nodeid)
}

fn is_collector(nodeid: &str) -> bool {
    !nodeid.contains("::")
}

fn is_bad(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failed | Outcome::Error)
}

fn is_mute(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Skipped | Outcome::Xfailed | Outcome::Xpassed)
}

/// How a test stood on one side over all its runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Absent,
    Good,
    Bad,
    Mute,
    Flaky,
}

impl Side {
    fn standing(&self, nodeid: &str) -> Standing {
        let Some(outcomes) = self.outcomes.get(nodeid) else {
            return Standing::Absent;
        };
        let bad = outcomes.iter().filter(|outcome| is_bad(**outcome)).count();
        match outcomes.first() {
            None => Standing::Absent,
            Some(_) if bad > 0 && bad < outcomes.len() => Standing::Flaky,
            Some(_) if bad > 0 => Standing::Bad,
            Some(first) if is_mute(*first) => Standing::Mute,
            Some(_) => Standing::Good,
        }
    }

    /// Tests that failed at least once.
    pub(super) fn failing(&self) -> impl Iterator<Item = &String> {
        let failing = self
            .outcomes
            .iter()
            .filter(|(_, outcomes)| outcomes.iter().any(|outcome| is_bad(*outcome)));
        failing.map(|(nodeid, _)| nodeid)
    }

    /// Whether the file that holds the test could not be collected, or was skipped as a whole.
    fn collector(&self, nodeid: &str) -> Standing {
        if is_collector(nodeid) {
            Standing::Absent
        } else {
            self.standing(file_of(nodeid))
        }
    }

    fn has_function(&self, id: &str) -> bool {
        self.outcomes.keys().any(|nodeid| bare(nodeid) == id)
    }
}

/// Judges every test of both sides. `base`: none where it could not be run, and why. `tests` in the ids of the rows.
pub(super) fn judge(head: &Side, base: Result<&Side, &str>, tests: &TestChanges) -> Lists {
    let mut lists = Lists::default();
    match base {
        Ok(base) => {
            let judge = Judge {
                head,
                base,
                tests,
                was: renames(tests),
            };
            judge.head(&mut lists);
            judge.base(&mut lists);
        }
        Err(why) => alone(head, why, tests, &mut lists),
    }
    by_sources(head, tests, &mut lists);
    lists
}

/// New bare ids to old ones.
fn renames(tests: &TestChanges) -> BTreeMap<&str, &str> {
    tests
        .renamed
        .iter()
        .map(|renamed| (renamed.id.as_str(), renamed.was.as_str()))
        .collect()
}

struct Judge<'j> {
    head: &'j Side,
    base: &'j Side,
    tests: &'j TestChanges,
    was: BTreeMap<&'j str, &'j str>,
}

impl Judge<'_> {
    /// The id that a test of head had at the base.
    fn before(&self, nodeid: &str) -> String {
        before(&self.was, nodeid)
    }

    fn head(&self, lists: &mut Lists) {
        for nodeid in self.head.outcomes.keys() {
            let before = self.before(nodeid);
            let (now, then) = (self.head.standing(nodeid), self.base.standing(&before));
            let named = || Named {
                nodeid: nodeid.clone(),
            };
            let unknown = then == Standing::Absent && self.unknown_at_base(&before).is_some();
            let is_new = then == Standing::Absent && !unknown && !is_collector(nodeid);
            if is_new && self.base.collector(&before) == Standing::Absent {
                lists.added.push(named());
            }
            match (now, then) {
                (Standing::Flaky, _) | (Standing::Good | Standing::Bad, Standing::Flaky) => {
                    lists.flaky.push(named());
                }
                (Standing::Bad, Standing::Bad) => lists.broken_before.push(named()),
                (Standing::Bad, Standing::Absent) if unknown => {
                    let why = self.unknown_at_base(&before).unwrap_or_default();
                    lists.unjudged.push(Unjudged {
                        nodeid: nodeid.clone(),
                        why,
                    });
                }
                (Standing::Bad, _) => lists.broken_here.push(self.broken(nodeid)),
                (Standing::Good, Standing::Bad) => lists.fixed.push(named()),
                (Standing::Mute, Standing::Good | Standing::Bad | Standing::Flaky) => {
                    lists.muted.push(Muted {
                        nodeid: nodeid.clone(),
                        how: self.how(nodeid),
                    });
                }
                _ => {}
            }
        }
        for nodeid in &self.head.unfinished {
            if !self.head.outcomes.contains_key(nodeid) {
                self.unfinished(nodeid, lists);
            }
        }
    }

    fn broken(&self, nodeid: &str) -> Broken {
        Broken {
            nodeid: nodeid.to_owned(),
            message: self.head.messages.get(nodeid).cloned(),
        }
    }

    fn unfinished(&self, nodeid: &str, lists: &mut Lists) {
        if self.base.standing(&self.before(nodeid)) == Standing::Good {
            let message = Some("it did not end within the time limit; at the base it passed".to_owned());
            lists.broken_here.push(Broken {
                nodeid: nodeid.to_owned(),
                message,
            });
        } else {
            let why = "it did not end within the time limit".to_owned();
            lists.unjudged.push(Unjudged {
                nodeid: nodeid.to_owned(),
                why,
            });
        }
    }

    /// Why nothing is known of a test of the base that has no row there.
    fn unknown_at_base(&self, before: &str) -> Option<String> {
        if self.base.unfinished.contains(before) {
            return Some("at the base it did not end within the time limit".to_owned());
        }
        let cut = self.base.cut_short.as_ref()?;
        Some(format!("the run at the base was cut short: {cut}"))
    }

    fn how(&self, nodeid: &str) -> String {
        let told = self.tests.muted.get(bare(nodeid)).map(|what| what.join("; "));
        told.or_else(|| self.head.messages.get(nodeid).cloned())
            .unwrap_or_else(|| {
                match self
                    .head
                    .outcomes
                    .get(nodeid)
                    .and_then(|outcomes| outcomes.first())
                {
                    Some(Outcome::Skipped) | None => "skipped",
                    Some(Outcome::Xfailed) => "expected to fail (xfail)",
                    Some(_) => "marked xfail: it passes, and could not fail",
                }
                .to_owned()
            })
    }

    /// Tests of the base that head does not have.
    fn base(&self, lists: &mut Lists) {
        let seen: BTreeSet<String> = self
            .head
            .outcomes
            .keys()
            .chain(&self.head.unfinished)
            .map(|nodeid| self.before(nodeid))
            .collect();
        for nodeid in self.base.outcomes.keys().filter(|nodeid| !seen.contains(*nodeid)) {
            if is_collector(nodeid) {
                let is_back = self.head.outcomes.keys().any(|other| file_of(other) == nodeid);
                if is_back && self.base.standing(nodeid) == Standing::Bad {
                    lists.fixed.push(Named {
                        nodeid: nodeid.clone(),
                    });
                }
            } else {
                self.vanished(nodeid, lists);
            }
        }
    }

    fn vanished(&self, nodeid: &str, lists: &mut Lists) {
        let function = bare(nodeid);
        if self.head.collector(nodeid) == Standing::Bad {
            return;
        }
        if let Some(cut) = &self.head.cut_short {
            let why = format!("the run was cut short: {cut}");
            return lists.unjudged.push(Unjudged {
                nodeid: nodeid.to_owned(),
                why,
            });
        }
        let is_gone = self.tests.removed.iter().any(|id| id == function);
        let has_others = function != nodeid && self.head.has_function(function);
        if is_gone || has_others {
            return lists.removed.push(Named {
                nodeid: nodeid.to_owned(),
            });
        }
        // One function under other parameters, or with parameters now: its rows are there.
        if self.head.has_function(function) || self.base.standing(nodeid) == Standing::Mute {
            return;
        }
        let how = match self.head.messages.get(file_of(nodeid)) {
            Some(message) if self.head.collector(nodeid) == Standing::Mute => message.clone(),
            _ => self.tests.muted.get(function).map_or_else(
                || "it is still there, and no longer collected".to_owned(),
                |what| what.join("; "),
            ),
        };
        lists.muted.push(Muted {
            nodeid: nodeid.to_owned(),
            how,
        });
    }
}

fn before(was: &BTreeMap<&str, &str>, nodeid: &str) -> String {
    let function = bare(nodeid);
    match was.get(function) {
        Some(old) => format!("{old}{}", &nodeid[function.len()..]),
        None => nodeid.to_owned(),
    }
}

/// What can be said where the base did not run.
fn alone(head: &Side, why: &str, tests: &TestChanges, lists: &mut Lists) {
    for nodeid in head.outcomes.keys().chain(&head.unfinished) {
        let unjudged = || Unjudged {
            nodeid: nodeid.clone(),
            why: why.to_owned(),
        };
        match head.standing(nodeid) {
            Standing::Flaky => lists.flaky.push(Named {
                nodeid: nodeid.clone(),
            }),
            Standing::Bad | Standing::Absent => lists.unjudged.push(unjudged()),
            Standing::Mute => match tests.muted.get(bare(nodeid)) {
                Some(what) => lists.muted.push(Muted {
                    nodeid: nodeid.clone(),
                    how: what.join("; "),
                }),
                None => lists.unjudged.push(unjudged()),
            },
            Standing::Good => {}
        }
    }
    lists
        .removed
        .extend(tests.removed.iter().map(|id| Named { nodeid: id.clone() }));
    for (id, what) in tests.muted.iter().filter(|(id, _)| !head.has_function(id)) {
        lists.muted.push(Muted {
            nodeid: id.clone(),
            how: what.join("; "),
        });
    }
}

/// What the sources tell of tests that ran.
fn by_sources(head: &Side, tests: &TestChanges, lists: &mut Lists) {
    let runs = |id: &str| {
        let rows = head.outcomes.keys().filter(|nodeid| bare(nodeid) == id);
        let mut standings = rows.map(|nodeid| head.standing(nodeid));
        standings.any(|standing| standing != Standing::Mute)
    };
    let renamed = tests
        .renamed
        .iter()
        .filter(|renamed| head.has_function(&renamed.id));
    lists.renamed.extend(renamed.map(|renamed| Renamed {
        nodeid: renamed.id.clone(),
        was: renamed.was.clone(),
    }));
    let changed = |list: &BTreeMap<String, Vec<String>>| -> Vec<Changed> {
        let told = list.iter().filter(|(id, _)| runs(id));
        told.map(|(id, what)| Changed {
            nodeid: id.clone(),
            what: what.clone(),
        })
        .collect()
    };
    lists.weakened = changed(&tests.weakened);
    lists.rewritten = changed(&tests.rewritten);
}
