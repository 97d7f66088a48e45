//! Which tests reach which definitions: all tests at once, a bit for each.

use super::{Calls, Definitions, Node};
use crate::modules::File;

/// By definition, the tests that may run it.
pub(crate) struct Reached {
    /// The test files, in the order of their bits.
    pub(crate) tests: Vec<File>,
    width: usize,
    bits: Vec<u64>,
}

impl Reached {
    pub(crate) fn new(calls: &Calls, definitions: &Definitions<'_>) -> Self {
        let mut flow = Flow::new(calls, definitions.symbols.len());
        for (bit, (file, unasked)) in calls.unasked.iter().enumerate() {
            for node in definitions.nodes(*file).chain(unasked.iter().copied()) {
                flow.start(node, bit);
            }
        }
        flow.run();
        Self {
            tests: calls.unasked.iter().map(|(file, _)| *file).collect(),
            width: flow.width,
            bits: flow.nodes,
        }
    }

    /// Whether the test of this index may run the definition.
    pub(crate) fn is_reached(&self, node: Node, test: usize) -> bool {
        self.bits[node * self.width + test / 64] >> (test % 64) & 1 == 1
    }
}

/// The search for a fixed point.
struct Flow<'a> {
    calls: &'a Calls,
    /// Words of bits for each node.
    width: usize,
    nodes: Vec<u64>,
    /// Bits of each method's name: the tests in whose reach it is spoken.
    names: Vec<u64>,
    open: Vec<Node>,
    is_open: Vec<bool>,
}

impl<'a> Flow<'a> {
    fn new(calls: &'a Calls, nodes: usize) -> Self {
        let width = calls.unasked.len().div_ceil(64).max(1);
        Self {
            calls,
            width,
            nodes: vec![0; nodes * width],
            names: vec![0; calls.methods.len() * width],
            open: Vec::new(),
            is_open: vec![false; nodes],
        }
    }

    fn open(&mut self, node: Node) {
        if !std::mem::replace(&mut self.is_open[node], true) {
            self.open.push(node);
        }
    }

    fn start(&mut self, node: Node, bit: usize) {
        self.nodes[node * self.width + bit / 64] |= 1 << (bit % 64);
        self.open(node);
    }

    fn run(&mut self) {
        let calls = self.calls;
        while let Some(node) = self.open.pop() {
            self.is_open[node] = false;
            for target in &calls.edges[node] {
                self.pass(node, *target);
            }
            for (name, method) in &calls.of_class[node] {
                self.meet(node, *name, *method);
            }
            for name in &calls.mentions[node] {
                if self.speak(node, *name) {
                    for (method, class) in &calls.methods[*name] {
                        self.meet(*class, *name, *method);
                    }
                }
            }
        }
    }

    fn pass(&mut self, from: Node, to: Node) {
        let mut has_grown = false;
        for word in 0..self.width {
            let new = self.nodes[from * self.width + word];
            let old = &mut self.nodes[to * self.width + word];
            has_grown |= new & !*old != 0;
            *old |= new;
        }
        if has_grown {
            self.open(to);
        }
    }

    fn speak(&mut self, node: Node, name: usize) -> bool {
        let mut has_grown = false;
        for word in 0..self.width {
            let new = self.nodes[node * self.width + word];
            let old = &mut self.names[name * self.width + word];
            has_grown |= new & !*old != 0;
            *old |= new;
        }
        has_grown
    }

    /// A method runs in tests where its class is in use and its name is spoken.
    fn meet(&mut self, class: Node, name: usize, method: Node) {
        let mut has_grown = false;
        for word in 0..self.width {
            let new = self.nodes[class * self.width + word] & self.names[name * self.width + word];
            let old = &mut self.nodes[method * self.width + word];
            has_grown |= new & !*old != 0;
            *old |= new;
        }
        if has_grown {
            self.open(method);
        }
    }
}
