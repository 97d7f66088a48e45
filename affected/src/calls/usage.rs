//! What each test file uses by itself, and how near that is to a change.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::{HashMap, HashMapExt};

use super::fixtures::is_fixture;
use super::{Calls, Definitions, Node, Reached};

/// Steps are counted in tenths of a halving: a definition that is so far from the change counts half as much.
const HALF: u32 = 10;
/// From a method that goes with its class to the class.
const OF_CLASS: u32 = 5;
/// From a definition to the module's own code.
const OF_MODULE: u32 = 40;
/// What is farther than this counts for nothing.
const FARTHEST: u32 = 60;
/// What a fixture uses counts half for who asks for it.
const BY_FIXTURE: f32 = 0.5;

/// How near definitions are to those that changed.
pub(crate) struct Near {
    /// By definition: its distance, and the next one on the way to the change (itself at the end).
    steps: HashMap<Node, (u32, Node)>,
}

impl Near {
    /// 1 for what changed, half of that for what uses it, and so on.
    fn weight(&self, node: Node) -> f32 {
        self.steps
            .get(&node)
            .map_or(0.0, |(distance, _)| 0.5_f32.powf(*distance as f32 / HALF as f32))
    }

    /// The definitions from one to the change.
    pub(crate) fn way(&self, from: Node) -> Vec<Node> {
        let mut way = vec![from];
        let mut at = from;
        while let Some((_, next)) = self.steps.get(&at).filter(|(_, next)| *next != at) {
            way.push(*next);
            at = *next;
        }
        way
    }
}

/// By test, what its file uses.
pub(crate) struct Usage {
    /// By test, each definition with how surely it is meant (1, or less if a name could mean several).
    used: Vec<Vec<(Node, f32)>>,
    /// How telling it is that a test uses a definition: less the more tests do.
    telling: HashMap<Node, f32>,
    users: Vec<Vec<Node>>,
    speakers: Vec<Vec<Node>>,
}

/// What a test's own uses say about a change.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bearing {
    /// The sum of what bears on the change.
    pub(crate) strength: f32,
    /// The part of all that the test uses.
    pub(crate) focus: f32,
    /// The use that says most.
    pub(crate) strongest: Option<Node>,
}

impl Usage {
    pub(crate) fn new(calls: &Calls, definitions: &Definitions<'_>, reached: &Reached) -> Self {
        let tests = reached.tests.iter().enumerate();
        let used: Vec<Vec<(Node, f32)>> = tests
            .map(|(test, file)| {
                let mut own = Own {
                    calls,
                    definitions,
                    reached,
                    test,
                    file: *file,
                    used: HashMap::new(),
                };
                for node in definitions.nodes(*file) {
                    own.take(node, 1.0);
                }
                own.used.into_iter().collect()
            })
            .collect();
        let (users, speakers) = reversed(calls);
        Self {
            telling: telling(&used),
            used,
            users,
            speakers,
        }
    }

    /// How near everything is to these definitions, against the direction of the calls.
    pub(crate) fn near(&self, calls: &Calls, definitions: &Definitions<'_>, changed: &[Node]) -> Near {
        let mut steps: HashMap<Node, (u32, Node)> = changed.iter().map(|node| (*node, (0, *node))).collect();
        let mut open: BinaryHeap<_> = changed.iter().map(|node| Reverse((0, *node))).collect();
        while let Some(Reverse((distance, node))) = open.pop() {
            if steps[&node].0 < distance {
                continue;
            }
            for (user, more) in self.users_of(calls, definitions, node) {
                let distance = distance + more;
                if distance <= FARTHEST && steps.get(&user).is_none_or(|(known, _)| distance < *known) {
                    steps.insert(user, (distance, node));
                    open.push(Reverse((distance, user)));
                }
            }
        }
        Near { steps }
    }

    fn users_of(&self, calls: &Calls, definitions: &Definitions<'_>, node: Node) -> Vec<(Node, u32)> {
        let symbol = definitions.symbol(node);
        let is_module = node == definitions.nodes(definitions.file(node)).start;
        let mut users: Vec<(Node, u32)> = self.users[node]
            .iter()
            .map(|user| match symbol.class {
                _ if is_module => (*user, OF_MODULE),
                Some(class) if class == *user => (*user, OF_CLASS),
                _ => (*user, HALF),
            })
            .collect();
        if let Some(name) = symbol.class.and_then(|class| calls.name_of(class, node)) {
            let ambiguity = HALF * calls.methods[name].len().ilog2();
            let speakers = self.speakers[name].iter();
            users.extend(speakers.map(|speaker| (*speaker, HALF + ambiguity)));
        }
        users
    }

    /// What a test's uses say about what is near.
    pub(crate) fn bearing(&self, test: usize, near: &Near) -> Bearing {
        let mut bearing = Bearing::default();
        let (mut all, mut best) = (0.0, 0.0);
        for (node, amount) in &self.used[test] {
            let worth = amount * self.telling[node];
            let bears = worth * near.weight(*node);
            all += worth;
            bearing.strength += bears;
            if bears > best {
                best = bears;
                bearing.strongest = Some(*node);
            }
        }
        bearing.focus = if all > 0.0 { bearing.strength / all } else { 0.0 };
        bearing
    }
}

/// What one test file uses.
struct Own<'a> {
    calls: &'a Calls,
    definitions: &'a Definitions<'a>,
    reached: &'a Reached,
    test: usize,
    file: usize,
    used: HashMap<Node, f32>,
}

impl Own<'_> {
    fn add(&mut self, node: Node, amount: f32) {
        let known = self.used.entry(node).or_default();
        *known = known.max(amount);
    }

    fn take(&mut self, node: Node, amount: f32) {
        for target in &self.calls.edges[node] {
            if self.definitions.file(*target) == self.file {
                continue;
            }
            self.add(*target, amount);
            if amount > BY_FIXTURE && is_fixture(self.definitions.symbol(*target)) {
                self.take(*target, amount * BY_FIXTURE);
            }
        }
        for name in &self.calls.mentions[node] {
            let methods = self.calls.methods[*name].iter();
            let meant: Vec<Node> = methods
                .map(|(method, _)| *method)
                .filter(|method| self.reached.is_reached(*method, self.test))
                .collect();
            for method in &meant {
                self.add(*method, amount / meant.len() as f32);
            }
        }
    }
}

/// The logarithm of the share of tests that use a definition, as in the search of texts.
fn telling(used: &[Vec<(Node, f32)>]) -> HashMap<Node, f32> {
    let mut users: HashMap<Node, f32> = HashMap::new();
    for (node, _) in used.iter().flatten() {
        *users.entry(*node).or_default() += 1.0;
    }
    let tests = used.len() as f32;
    users
        .into_iter()
        .map(|(node, users)| (node, (1.0 + tests / users).ln()))
        .collect()
}

fn reversed(calls: &Calls) -> (Vec<Vec<Node>>, Vec<Vec<Node>>) {
    let mut users = vec![Vec::new(); calls.edges.len()];
    let mut speakers = vec![Vec::new(); calls.methods.len()];
    for (node, targets) in calls.edges.iter().enumerate() {
        for target in targets {
            users[*target].push(node);
        }
    }
    for (node, names) in calls.mentions.iter().enumerate() {
        for name in names {
            speakers[*name].push(node);
        }
    }
    (users, speakers)
}
