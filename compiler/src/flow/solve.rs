//! Two classic data-flow problems over the graph: liveness (backward, may) and sure binding (forward, must).
//!
//! Both are solved over blocks of steps that always follow one another, with one bit per name: generated files have
//! suites of a hundred thousand statements, each of which binds a name of its own.

use super::step::Step;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// A set of names, by number: pieces that sets share until one of them changes. In a file of thousands of loops, a set has
/// as many names as the file, and differs from that of the block beside it by a few.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<Option<Rc<Piece>>>);

type Piece = [u64; WORDS];
const WORDS: usize = 16;
const BITS: usize = 64 * WORDS;

impl Names {
    fn empty(count: usize) -> Self {
        Self(vec![None; count.div_ceil(BITS)])
    }

    pub fn contains(&self, name: usize) -> bool {
        self.0.get(name / BITS).and_then(Option::as_ref).is_some_and(|piece| piece[word(name)] & bit(name) != 0)
    }

    fn insert(&mut self, name: usize) {
        if !self.contains(name) {
            let piece = self.0[name / BITS].get_or_insert_with(|| Rc::new([0; WORDS]));
            Rc::make_mut(piece)[word(name)] |= bit(name);
        }
    }

    fn remove(&mut self, name: usize) {
        if self.contains(name)
            && let Some(piece) = &mut self.0[name / BITS]
        {
            Rc::make_mut(piece)[word(name)] &= !bit(name);
        }
    }

    fn unite(&mut self, other: &Names) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            match (mine.as_mut(), theirs) {
                (_, None) => {}
                (None, Some(_)) => mine.clone_from(theirs),
                (Some(piece), Some(theirs)) if Rc::ptr_eq(piece, theirs) => {}
                (Some(piece), Some(theirs)) => {
                    Rc::make_mut(piece).iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine |= theirs);
                }
            }
        }
    }

    fn intersect(&mut self, other: &Names) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            match (mine.as_mut(), theirs) {
                (None, _) => {}
                (_, None) => *mine = None,
                (Some(piece), Some(theirs)) if Rc::ptr_eq(piece, theirs) => {}
                (Some(piece), Some(theirs)) => {
                    Rc::make_mut(piece).iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine &= theirs);
                }
            }
        }
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        let is_same = |(mine, theirs): (&Option<Rc<Piece>>, &Option<Rc<Piece>>)| match (mine, theirs) {
            (None, None) => true,
            (Some(mine), Some(theirs)) => Rc::ptr_eq(mine, theirs) || mine == theirs,
            (Some(piece), None) | (None, Some(piece)) => piece.iter().all(|&word| word == 0),
        };
        self.0.len() == other.0.len() && self.0.iter().zip(&other.0).all(is_same)
    }
}

fn word(name: usize) -> usize {
    name % BITS / 64
}

fn bit(name: usize) -> u64 {
    1 << (name % 64)
}

/// What is known at the steps that were asked for.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    /// The names that may be read from there on before they are bound again.
    pub live: Names,
    /// The names bound on every path to it; `None` where no path leads.
    pub bound: Option<Names>,
}

/// Solves both problems; `wanted` are the steps to keep.
pub(super) fn solve(
    graph: &DiGraph<Step, ()>,
    names: usize,
    initially: &BTreeSet<usize>,
    wanted: &[NodeIndex],
) -> Vec<Solved> {
    let blocks = Blocks::new(graph, wanted);
    let live = live(graph, &blocks, names);
    let bound = surely_bound(graph, &blocks, names, initially);
    wanted
        .iter()
        .map(|node| {
            let block = blocks.of[node.index()];
            Solved { live: live[block].clone(), bound: bound[block].clone() }
        })
        .collect()
}

/// Steps that always follow one another; every wanted step begins a block.
struct Blocks {
    of: Vec<usize>,
    steps: Vec<Vec<NodeIndex>>,
    next: Vec<Vec<usize>>,
    before: Vec<Vec<usize>>,
}

impl Blocks {
    fn new(graph: &DiGraph<Step, ()>, wanted: &[NodeIndex]) -> Self {
        let mut begins = vec![true; graph.node_count()];
        for node in graph.node_indices() {
            let mut into = graph.neighbors_directed(node, Direction::Incoming);
            if let (Some(before), None) = (into.next(), into.next()) {
                begins[node.index()] = before == node || graph.neighbors(before).count() != 1;
            }
        }
        wanted.iter().for_each(|node| begins[node.index()] = true);
        let mut blocks =
            Self { of: vec![0; graph.node_count()], steps: Vec::new(), next: Vec::new(), before: Vec::new() };
        for node in graph.node_indices().filter(|node| begins[node.index()]) {
            blocks.collect(graph, &begins, node);
        }
        // A ring of steps that nothing enters: code that cannot be reached.
        let mut placed = vec![false; graph.node_count()];
        blocks.steps.iter().flatten().for_each(|node| placed[node.index()] = true);
        for node in graph.node_indices() {
            if !placed[node.index()] {
                blocks.of[node.index()] = blocks.steps.len();
                blocks.steps.push(vec![node]);
            }
        }
        blocks.connect(graph);
        blocks
    }

    fn collect(&mut self, graph: &DiGraph<Step, ()>, begins: &[bool], first: NodeIndex) {
        let (mut steps, mut node) = (vec![first], first);
        while let Some(next) = graph.neighbors(node).next().filter(|next| !begins[next.index()]) {
            steps.push(next);
            node = next;
        }
        steps.iter().for_each(|node| self.of[node.index()] = self.steps.len());
        self.steps.push(steps);
    }

    fn connect(&mut self, graph: &DiGraph<Step, ()>) {
        self.next = vec![Vec::new(); self.steps.len()];
        self.before = vec![Vec::new(); self.steps.len()];
        for (block, steps) in self.steps.iter().enumerate() {
            let Some(&last) = steps.last() else { continue };
            for next in graph.neighbors(last) {
                self.next[block].push(self.of[next.index()]);
                self.before[self.of[next.index()]].push(block);
            }
        }
    }
}

/// For each block, the names live where it begins.
fn live(graph: &DiGraph<Step, ()>, blocks: &Blocks, names: usize) -> Vec<Names> {
    let mut live = vec![Names::empty(names); blocks.steps.len()];
    // Later code has higher numbers, nearly: start there.
    let mut queue: VecDeque<usize> = (0..blocks.steps.len()).rev().collect();
    let mut queued = vec![true; blocks.steps.len()];
    while let Some(block) = queue.pop_front() {
        queued[block] = false;
        let mut now = Names::empty(names);
        blocks.next[block].iter().for_each(|&next| now.unite(&live[next]));
        for &node in blocks.steps[block].iter().rev() {
            let step = &graph[node];
            step.binds.iter().chain(&step.unbinds).for_each(|&name| now.remove(name));
            step.reads.iter().for_each(|&name| now.insert(name));
        }
        if now != live[block] {
            live[block] = now;
            for &before in &blocks.before[block] {
                if !std::mem::replace(&mut queued[before], true) {
                    queue.push_back(before);
                }
            }
        }
    }
    live
}

/// For each block, the names surely bound where it begins.
fn surely_bound(
    graph: &DiGraph<Step, ()>,
    blocks: &Blocks,
    names: usize,
    initially: &BTreeSet<usize>,
) -> Vec<Option<Names>> {
    let mut bound: Vec<Option<Names>> = vec![None; blocks.steps.len()];
    // The entry is the first step, so its block is the first.
    let Some(entry) = bound.first_mut() else { return bound };
    let mut first = Names::empty(names);
    initially.iter().for_each(|&name| first.insert(name));
    *entry = Some(first);
    let mut queue = VecDeque::from([0]);
    let mut queued = vec![false; blocks.steps.len()];
    while let Some(block) = queue.pop_front() {
        queued[block] = false;
        let Some(mut after) = bound[block].clone() else { continue };
        for &node in &blocks.steps[block] {
            let step = &graph[node];
            step.unbinds.iter().for_each(|&name| after.remove(name));
            step.binds.iter().for_each(|&name| after.insert(name));
        }
        for &next in &blocks.next[block] {
            let merged = match &bound[next] {
                Some(known) => {
                    let mut merged = known.clone();
                    merged.intersect(&after);
                    merged
                }
                None => after.clone(),
            };
            if bound[next].as_ref() != Some(&merged) {
                bound[next] = Some(merged);
                if !std::mem::replace(&mut queued[next], true) {
                    queue.push_back(next);
                }
            }
        }
    }
    bound
}
