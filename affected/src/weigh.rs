//! What speaks for each test, for one changed path.

use foldhash::HashMap;
use runner_core::affected::Confidence;
use source::names::python::symbols::Kind;

use crate::calls::{Bearing, Calls, Definitions, Near, Node, Reached, Usage};
use crate::graph::{DIRECT, Graph, Reach};
use crate::modules::{File, Modules};
use crate::past::{History, Together};
use crate::settings;
use crate::signals::{NAMED_AFTER, Signal, Subject};
use crate::tree::{Tree, read_text};
use crate::words;

/// The changed test itself: before everything else.
const ITSELF: f32 = 1000.0;
/// Of what bears on the change, compared with the test that has most of it.
const SHARE: f32 = 50.0;
/// Of what the test uses, the part that bears on the change.
const FOCUS: f32 = 50.0;
/// Of the changed definitions, the part that the test reaches.
const REACH: f32 = 10.0;
/// Of what git's past says.
const PAST: f32 = 100.0;
/// Of how well the test's text goes with the words of the change.
const WORDS: f32 = 100.0;
/// The name of a file that is no Python stands in the test's text.
const SPOKEN_OF: f32 = 40.0;
/// Of an import, less the longer the way.
const IMPORT: f32 = 10.0;
/// What a test uses counts so much if it reaches the file, but nothing that changed in it.
const BESIDE: f32 = 0.3;
/// From this part of the past's evidence on, a test that reaches the file is likely.
const OFTEN: f32 = 0.3;
/// So many steps from the test to the change are a close use.
const CLOSE: usize = 2;
/// How many modules of a chain of imports are named.
const MOST_NAMED: usize = 3;

/// What speaks for one test.
#[derive(Default)]
pub(crate) struct Evidence {
    pub(crate) points: f32,
    /// `None` as long as nothing was said.
    pub(crate) confidence: Option<Confidence>,
    pub(crate) why: Vec<String>,
}

impl Evidence {
    /// What another changed path adds.
    pub(crate) fn add(&mut self, other: Self) {
        self.points += other.points;
        // The least is the surest.
        self.confidence = match (self.confidence, other.confidence) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        for why in other.why {
            if !self.why.contains(&why) {
                self.why.push(why);
            }
        }
    }
}

pub(crate) struct Weigher<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) modules: &'a Modules,
    pub(crate) graph: Graph,
    pub(crate) definitions: &'a Definitions<'a>,
    pub(crate) calls: &'a Calls,
    pub(crate) reached: &'a Reached,
    pub(crate) usage: Usage,
    pub(crate) history: History,
}

/// One changed path, and what is the same for all tests.
struct Question<'a> {
    subject: Subject,
    file: Option<File>,
    is_test: bool,
    /// The definitions that count as the file.
    whole: Vec<Node>,
    /// Those that differ from the last commit, if that is known.
    changed: Option<Vec<Node>>,
    near: Near,
    bearings: Vec<Bearing>,
    strongest: f32,
    imports: HashMap<File, Reach>,
    past: Together<'a>,
    resemblance: Option<Vec<f32>>,
    /// Whether any test reaches the file.
    is_reached: bool,
    /// Why any test below the file's folder may be reached.
    reaches_all: Option<String>,
}

impl Weigher<'_> {
    /// What speaks for each test that has anything to do with a path.
    /// `lines`: those that changed, where it is told.
    pub(crate) fn weigh(&self, path: &str, lines: &[(u32, u32)]) -> Vec<(File, Evidence)> {
        let question = self.question(path, lines);
        let tests = self.reached.tests.iter().enumerate();
        tests
            .filter_map(|(test, file)| Some((*file, self.evidence(&question, test, *file)?)))
            .collect()
    }

    fn question(&self, path: &str, lines: &[(u32, u32)]) -> Question<'_> {
        let file = self.modules.file(path);
        let whole = self.whole(file);
        let before = self.history.before(path);
        let changed = match (file, before.as_deref()) {
            (Some(file), _) if !lines.is_empty() => Some(self.definitions.at_lines(file, lines)),
            (Some(file), Some(old)) => self.definitions.changed(file, old),
            _ => None,
        };
        let changed = changed.filter(|changed| !changed.is_empty());
        let targets = changed.as_ref().unwrap_or(&whole);
        let near = self.usage.near(self.calls, self.definitions, targets);
        let tests = 0..self.reached.tests.len();
        let bearings: Vec<Bearing> = tests
            .clone()
            .map(|test| self.usage.bearing(test, &near))
            .collect();
        Question {
            subject: Subject::new(path),
            is_test: self.is_test(file),
            strongest: bearings
                .iter()
                .map(|bearing| bearing.strength)
                .fold(0.0, f32::max),
            bearings,
            imports: file.map(|file| self.graph.reach(file)).unwrap_or_default(),
            past: self
                .history
                .together(path, |path| self.is_test(self.modules.file(path))),
            resemblance: self.resemblance(path, before.as_deref(), lines),
            is_reached: tests
                .into_iter()
                .any(|test| self.part_reached(&whole, test) > 0.0),
            reaches_all: settings::reaches_all(path),
            file,
            whole,
            changed,
            near,
        }
    }

    fn is_test(&self, file: Option<File>) -> bool {
        file.and_then(|file| self.tree.sources.get(file))
            .is_some_and(|source| source.is_test)
    }

    /// How well each test's text goes with what changed; `None` if that is not known.
    fn resemblance(&self, path: &str, before: Option<&str>, lines: &[(u32, u32)]) -> Option<Vec<f32>> {
        let now = || read_text(&self.tree.root, path).unwrap_or_default();
        let words = match before {
            _ if !lines.is_empty() => words::changed_words("", &words::of_lines(&now(), lines)),
            Some(before) => words::changed_words(before, &now()),
            None => return None,
        };
        if words.is_empty() {
            return None;
        }
        let tests = self.reached.tests.iter();
        let read: Vec<&str> = tests.map(|file| self.definitions.text(*file)).collect();
        Some(words::resemblance(&words, &read))
    }

    /// The definitions that count as a file: what runs in it, or all if nothing does.
    fn whole(&self, file: Option<File>) -> Vec<Node> {
        let nodes = file.map_or(0..0, |file| self.definitions.nodes(file));
        let runs = |node: &Node| matches!(self.definitions.symbol(*node).kind, Kind::Function | Kind::Method);
        let run: Vec<Node> = nodes.clone().filter(runs).collect();
        if run.is_empty() { nodes.collect() } else { run }
    }

    /// The part of some definitions that a test reaches.
    fn part_reached(&self, nodes: &[Node], test: usize) -> f32 {
        let reached = nodes.iter().filter(|node| self.reached.is_reached(**node, test));
        reached.count() as f32 / nodes.len().max(1) as f32
    }

    /// `None` if nothing speaks for the test.
    fn evidence(&self, question: &Question<'_>, test: usize, file: File) -> Option<Evidence> {
        if question.file == Some(file) {
            return Some(Evidence {
                points: ITSELF,
                confidence: Some(Confidence::Certain),
                why: vec!["is changed itself".to_owned()],
            });
        }
        let path = self.tree.sources[file].path.as_str();
        let reaches_file = self.part_reached(&question.whole, test) > 0.0;
        let signals = names(question, path, reaches_file);
        let imports = question.imports.get(&file);
        let speaks_of_it =
            question.file.is_none() && question.subject.is_named_in(self.definitions.text(file));
        let reaches_all = question
            .reaches_all
            .clone()
            .filter(|_| question.subject.is_above(path));
        let is_direct = imports.is_some_and(|reach| reach.cost == DIRECT);
        let is_told = speaks_of_it || reaches_all.is_some() || is_direct || !signals.is_empty();
        if !reaches_file && !is_told && (question.is_reached || imports.is_none()) {
            return None;
        }
        let changed = question.changed.as_ref().unwrap_or(&question.whole);
        let reaches = self.part_reached(changed, test);
        let past = question.past.get(path).copied().unwrap_or_default();
        let words = question.resemblance.as_ref().map_or(0.0, |all| all[test]);
        let bearing = question.bearings[test];
        let points = signals.iter().map(|(weight, _)| *weight as f32).sum::<f32>()
            + uses(question, bearing, reaches)
            + imports.map_or(0.0, |reach| IMPORT * DIRECT as f32 / reach.cost as f32)
            + PAST * past.weight
            + WORDS * words
            + SPOKEN_OF * f32::from(u8::from(speaks_of_it));
        let way = bearing.strongest.map(|node| question.near.way(node));
        let is_close = way.as_ref().is_some_and(|way| way.len() <= CLOSE) && reaches > 0.0;
        let is_named_after = signals.iter().any(|(weight, _)| *weight >= NAMED_AFTER);
        let is_likely = is_close || is_named_after || speaks_of_it || (reaches_file && past.weight >= OFTEN);
        let mut why: Vec<String> = signals.into_iter().map(|(_, why)| why).collect();
        match (way, imports.zip(question.file)) {
            (Some(way), _) => why.push(self.uses(&way)),
            (None, Some((reach, changed))) => why.push(import_reason(self.modules, changed, reach)),
            (None, None) => {}
        }
        if speaks_of_it {
            why.push(format!("speaks of {}", question.subject.file_name));
        }
        why.extend(reaches_all);
        if past.commits > 0 {
            why.push(format!("changed together with it in {} commits", past.commits));
        }
        Some(Evidence {
            points,
            confidence: Some(if is_likely {
                Confidence::Likely
            } else {
                Confidence::Possible
            }),
            why,
        })
    }

    /// `uses shop.cart.Cart.total → shop.money.round`.
    fn uses(&self, way: &[Node]) -> String {
        let name = |node: &Node| {
            let symbol = self.definitions.symbol(*node);
            let module = self.modules.name(self.definitions.file(*node));
            let class = symbol.class.map(|class| self.definitions.symbol(class).name);
            let parts = [Some(module.as_str()), class, Some(symbol.name)];
            let parts: Vec<&str> = parts
                .into_iter()
                .flatten()
                .filter(|part| !part.is_empty())
                .collect();
            parts.join(".")
        };
        format!("uses {}", way.iter().map(name).collect::<Vec<_>>().join(" → "))
    }
}

/// What names and places say. Where tests reach the file, those of others count only if a test is named after it.
fn names(question: &Question<'_>, test: &str, reaches_file: bool) -> Vec<Signal> {
    if question.is_test {
        return Vec::new();
    }
    let mut signals = question.subject.signals(test);
    if question.is_reached && !reaches_file {
        signals.retain(|(weight, _)| *weight >= NAMED_AFTER);
    }
    signals
}

fn uses(question: &Question<'_>, bearing: Bearing, reaches: f32) -> f32 {
    let share = bearing.strength / question.strongest.max(f32::EPSILON);
    let points = SHARE * share + FOCUS * bearing.focus + REACH * reaches;
    if reaches > 0.0 { points } else { BESIDE * points }
}

/// `imports shop.money through shop.cart`.
fn import_reason(modules: &Modules, changed: File, reach: &Reach) -> String {
    let between = reach.through.split_last().map_or(&[][..], |(_, between)| between);
    let name = |file: &File| match modules.path(*file) {
        path if path.ends_with("conftest.py") => path.to_owned(),
        _ => modules.name(*file),
    };
    let changed = name(&changed);
    if changed.ends_with("conftest.py") && between.is_empty() {
        return format!("{changed} applies to it");
    }
    let named: Vec<String> = between.iter().take(MOST_NAMED).map(name).collect();
    match (named.join(", "), between.len() - named.len()) {
        (named, _) if named.is_empty() => format!("imports {changed}"),
        (named, 0) => format!("imports {changed} through {named}"),
        (named, more) => format!("imports {changed} through {named} and {more} more"),
    }
}
