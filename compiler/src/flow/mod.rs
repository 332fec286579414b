//! Control flow and data flow of one scope: which names are live after a loop, which are surely bound there.

mod build;
mod long;
mod outlive;
mod solve;
mod step;

pub use long::long_call;
pub use step::Step;

use crate::ids::StmtId;
use crate::name::Name;
use crate::scopes::{Scope, ScopeId, Scopes};
use crate::syntax::tree::Stmt;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use solve::Solved;
use std::collections::{BTreeMap, BTreeSet};
use step::LoopNodes;

/// The control-flow graph of one scope, solved.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The graph.
    pub graph: DiGraph<Step, ()>,
    numbers: FxHashMap<Name, usize>,
    loops: BTreeMap<StmtId, LoopNodes>,
    after: BTreeMap<StmtId, NodeIndex>,
    solved: BTreeMap<NodeIndex, Solved>,
    always_live: FxHashSet<Name>,
    everything_live: bool,
}

impl Flow {
    /// Builds and solves the graph of `scope`. `is_shared`: it lies in a module whose globals other files may read.
    pub fn new(scopes: &Scopes, id: ScopeId, is_shared: bool) -> Self {
        Self::unread_by(scopes, id, is_shared, &BTreeSet::new())
    }

    /// As the text of the scope and of those inside it has it: what `globals()` or another file may read does not count, and no
    /// context manager swallows exceptions. What `these` statements read does not count.
    pub fn as_written(scopes: &Scopes, id: ScopeId, these: &BTreeSet<StmtId>) -> Self {
        Self::solved(&scopes.list[id], these, true, false)
    }

    /// As all others see the scope: what `these` statements read does not count.
    pub fn unread_by(scopes: &Scopes, id: ScopeId, is_shared: bool, these: &BTreeSet<StmtId>) -> Self {
        let scope = &scopes.list[id];
        let everything_live = scope.dynamic.is_some() || scopes.reads_frames || (is_shared && scopes.is_module(id));
        Self::solved(scope, these, false, everything_live)
    }

    fn solved(scope: &Scope, these: &BTreeSet<StmtId>, trusting: bool, everything_live: bool) -> Self {
        let build::Built { graph, names, numbers, loops, after } = build::graph(scope, these, trusting);
        let mut wanted: Vec<NodeIndex> =
            loops.values().flat_map(|nodes| [nodes.before, nodes.body, nodes.exit]).collect();
        wanted.extend(after.values());
        let solved = solve::solve(
            &graph,
            names.len(),
            &scope.params().filter_map(|param| numbers.get(&param).copied()).collect(),
            &wanted,
        );
        let solved = wanted.into_iter().zip(solved).collect();
        let mut always_live = scope.captured.clone();
        always_live.extend(&scope.told);
        always_live.extend(&scope.globals);
        always_live.extend(&scope.nonlocals);
        Self { graph, numbers, loops, after, solved, always_live, everything_live }
    }

    /// Whether the value that `name` has when the loop is over may be read afterwards.
    pub fn live_after(&self, loop_stmt: &Stmt, name: Name) -> bool {
        self.at(loop_stmt).is_none_or(|nodes| self.live_at(nodes.exit, name))
    }

    /// Whether others may read the value that `name` has after one of the statements whose reads do not count.
    pub fn live_past(&self, stmt: &Stmt, name: Name) -> bool {
        self.after.get(&stmt.id).is_none_or(|&node| self.live_at(node, name))
    }

    /// Whether an iteration may read the value that `name` had before it: from before the loop or an earlier iteration.
    pub fn live_into_body(&self, loop_stmt: &Stmt, name: Name) -> bool {
        self.at(loop_stmt).is_none_or(|nodes| self.live_at(nodes.body, name))
    }

    /// Whether `name` is bound on every path that arrives at the end of the loop.
    pub fn surely_bound_after(&self, loop_stmt: &Stmt, name: Name) -> bool {
        self.at(loop_stmt).is_some_and(|nodes| self.bound_at(nodes.exit, name))
    }

    /// Whether `name` is bound on every path that arrives at the loop.
    pub fn surely_bound_before(&self, loop_stmt: &Stmt, name: Name) -> bool {
        self.at(loop_stmt).is_some_and(|nodes| self.bound_at(nodes.before, name))
    }

    /// Whether `name` is bound on every path that arrives at the start of an iteration.
    pub fn surely_bound_in_body(&self, loop_stmt: &Stmt, name: Name) -> bool {
        self.at(loop_stmt).is_some_and(|nodes| self.bound_at(nodes.body, name))
    }

    /// The graph in Graphviz's language.
    pub fn dot(&self, title: &str) -> String {
        let shown = self.graph.map(|_, step| step.label, |_, ()| "");
        let body = format!("{:?}", petgraph::dot::Dot::with_config(&shown, &[petgraph::dot::Config::EdgeNoLabel]));
        body.replacen("digraph {", &format!("digraph {title:?} {{\n    label={title:?}"), 1)
    }

    fn at(&self, loop_stmt: &Stmt) -> Option<LoopNodes> {
        self.loops.get(&loop_stmt.id).copied()
    }

    fn number(&self, name: Name) -> Option<usize> {
        self.numbers.get(&name).copied()
    }

    fn live_at(&self, node: NodeIndex, name: Name) -> bool {
        self.everything_live
            || self.always_live.contains(&name)
            || self
                .number(name)
                .zip(self.solved.get(&node))
                .is_some_and(|(number, solved)| solved.live.contains(number))
    }

    fn bound_at(&self, node: NodeIndex, name: Name) -> bool {
        // False in unreachable code, and for a name this scope never mentions.
        let bound = self.solved.get(&node).and_then(|solved| solved.bound.as_ref());
        self.number(name).zip(bound).is_some_and(|(number, bound)| bound.contains(number))
    }
}
