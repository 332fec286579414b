//! The control-flow graph of one scope. Where Python's rules are subtle (exceptions, `finally`), edges are added rather
//! than left out: a path too many only makes a name live longer, or less surely bound.

use super::long::long_call;
use super::step::{LoopNodes, Step};
use crate::ids::StmtId;
use crate::knowledge::{Knowledge, List};
use crate::name::Name;
use crate::scopes::{Scope, bound_names, reads, target_names};
use crate::syntax::tree::{Expr, ExprKind, Handler, Literal, Stmt, StmtKind};
use crate::syntax::walk;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

type Graph = DiGraph<Step, ()>;

/// What a scope looks like to data flow.
pub(super) struct Built {
    pub graph: Graph,
    /// Names that occur, sorted: steps call them by their numbers.
    pub names: Vec<Name>,
    pub numbers: FxHashMap<Name, usize>,
    /// By the number of the statement.
    pub loops: BTreeMap<StmtId, LoopNodes>,
    /// The step after each of the statements whose reads do not count.
    pub after: BTreeMap<StmtId, NodeIndex>,
}

/// `unread`: statements whose reads do not count; `trusting`: no context manager swallows exceptions.
pub(super) fn graph(scope: &Scope, unread: &BTreeSet<StmtId>, trusting: bool) -> Built {
    let names = all_names(scope);
    let numbers = names.iter().enumerate().map(|(at, &name)| (name, at)).collect();
    let (jumps, catch) = (Vec::new(), Vec::new());
    let built = Built { graph: Graph::new(), names, numbers, loops: BTreeMap::new(), after: BTreeMap::new() };
    let mut builder = Builder { built, jumps, catch, unread, is_unread: false, trusting };
    let entry = builder.node("entry");
    let exit = builder.node("exit");
    builder.jumps.push(Jumps { next: exit, leave: exit });
    let ends = builder.suite(scope.body, vec![entry]);
    builder.join(&ends, exit);
    builder.built
}

fn all_names(scope: &Scope) -> Vec<Name> {
    let mut names: FxHashSet<Name> = scope.bound.keys().copied().collect();
    walk::statements(scope.body, &mut |stmt| {
        for expr in walk::own_expressions(stmt) {
            reads(expr, &mut |name, _| {
                names.insert(name);
            });
        }
    });
    let mut names: Vec<Name> = names.into_iter().collect();
    names.sort_unstable();
    names
}

/// Where `continue` and `break` go. The outermost entry stands for the scope: `return` goes to its `leave`.
#[derive(Clone, Copy)]
struct Jumps {
    next: NodeIndex,
    leave: NodeIndex,
}

struct Builder<'u> {
    built: Built,
    jumps: Vec<Jumps>,
    /// Where an exception may go: the handlers and `finally` clauses around this point, innermost last.
    catch: Vec<NodeIndex>,
    unread: &'u BTreeSet<StmtId>,
    /// Whether what is read here does not count.
    is_unread: bool,
    trusting: bool,
}

impl Builder<'_> {
    fn node(&mut self, label: &'static str) -> NodeIndex {
        self.built.graph.add_node(Step { label, ..Step::default() })
    }

    fn join(&mut self, from: &[NodeIndex], to: NodeIndex) {
        for &end in from {
            self.built.graph.update_edge(end, to, ());
        }
    }

    fn number(&self, name: Name) -> Option<usize> {
        self.built.numbers.get(&name).copied()
    }

    /// A node after `from` that may raise.
    fn step(&mut self, from: &[NodeIndex], label: &'static str, read: &[&Expr]) -> NodeIndex {
        let node = self.node(label);
        self.join(from, node);
        for expr in read {
            self.read(node, expr);
        }
        if let Some(&handler) = self.catch.last() {
            // An exception may arrive with the names as they were before this step, or after.
            self.join(from, handler);
            self.join(&[node], handler);
        }
        node
    }

    fn read(&mut self, node: NodeIndex, expr: &Expr) {
        if self.is_unread {
            return;
        }
        let mut found = Vec::new();
        reads(expr, &mut |name, _| found.extend(self.number(name)));
        self.built.graph[node].reads.extend(found);
    }

    fn bind(&mut self, node: NodeIndex, name: Name) {
        let number = self.number(name);
        self.built.graph[node].binds.extend(number);
    }

    /// Adds a suite after `from`; returns the nodes from which control leaves it at its end.
    fn suite(&mut self, suite: &[Stmt], mut from: Vec<NodeIndex>) -> Vec<NodeIndex> {
        for stmt in suite {
            if self.is_unread || !self.unread.contains(&stmt.id) {
                from = self.stmt(stmt, from);
                continue;
            }
            self.is_unread = true;
            let ends = self.stmt(stmt, from);
            self.is_unread = false;
            let after = self.node("after");
            self.join(&ends, after);
            self.built.after.insert(stmt.id, after);
            from = vec![after];
        }
        from
    }

    fn stmt(&mut self, stmt: &Stmt, from: Vec<NodeIndex>) -> Vec<NodeIndex> {
        match &stmt.kind {
            StmtKind::For(node) => {
                let before = self.step(&from, "iter", &[&node.iter]);
                self.bind_walrus(before, stmt);
                let head = self.step(&[before], "next", &[]);
                let target = self.step(&[head], "target", &target_reads(&node.target));
                target_names_into(self, target, &node.target);
                self.loop_body(stmt, [before, head, target], &node.body, Some(&node.orelse))
            }
            StmtKind::While { test, body, orelse } => {
                let before = self.step(&from, "while", &[]);
                let head = self.step(&[before], "test", &[test]);
                self.bind_walrus(head, stmt);
                let forever = matches!(test.kind, ExprKind::Constant(Literal::True | Literal::Number));
                self.loop_body(stmt, [before, head, head], body, (!forever).then_some(orelse))
            }
            StmtKind::If { test, body, orelse } => {
                let node = self.step(&from, "if", &[test]);
                self.bind_walrus(node, stmt);
                let mut ends = self.suite(body, vec![node]);
                ends.extend(self.suite(orelse, vec![node]));
                ends
            }
            StmtKind::With { items, body, .. } => {
                let node = self.simple(stmt, &from, "with");
                let mut ends = self.suite(body, vec![node]);
                // A context manager may swallow an exception from anywhere in the body.
                if !self.trusting && !items.iter().all(|(manager, _)| lets_exceptions_pass(manager)) {
                    ends.push(node);
                }
                ends
            }
            StmtKind::Match { cases, .. } => {
                let mut ends = vec![self.step(&from, "match", &walk::own_expressions(stmt).collect::<Vec<_>>())];
                let mut subject = ends.clone();
                for case in cases {
                    let node = self.step(&subject, "case", &[]);
                    case.binds.iter().for_each(|&name| self.bind(node, name));
                    subject.push(node);
                    ends.extend(self.suite(&case.body, vec![node]));
                }
                ends
            }
            StmtKind::Try { body, handlers, orelse, finalbody } => {
                self.try_statement(&from, body, handlers, orelse, finalbody)
            }
            StmtKind::Return(_) => {
                let node = self.simple(stmt, &from, "return");
                let out = self.jumps[0].leave;
                self.join(&[node], out);
                Vec::new()
            }
            StmtKind::Raise(_) => {
                let node = self.simple(stmt, &from, "raise");
                if self.catch.is_empty() {
                    let out = self.jumps[0].leave;
                    self.join(&[node], out);
                }
                Vec::new()
            }
            StmtKind::Break | StmtKind::Continue => {
                let node = self.step(&from, "jump", &[]);
                let Some(&jumps) = self.jumps.last() else { return Vec::new() };
                let to = if matches!(stmt.kind, StmtKind::Break) { jumps.leave } else { jumps.next };
                self.join(&[node], to);
                Vec::new()
            }
            _ if long_call(stmt).is_some() => {
                let before = self.step(&from, "before", &[]);
                let node = self.simple(stmt, &[before], "call");
                let exit = self.node("call exit");
                self.join(&[node], exit);
                self.built.loops.insert(stmt.id, LoopNodes { before, head: before, body: before, exit });
                vec![exit]
            }
            _ => vec![self.simple(stmt, &from, "statement")],
        }
    }

    fn simple(&mut self, stmt: &Stmt, from: &[NodeIndex], label: &'static str) -> NodeIndex {
        let mut read: Vec<&Expr> = Vec::new();
        for expr in walk::own_expressions(stmt) {
            read.extend(if is_target(stmt, expr) { target_reads(expr) } else { vec![expr] });
        }
        let node = self.step(from, label, &read);
        if let StmtKind::AugAssign { target, .. } = &stmt.kind {
            self.read(node, target);
        }
        let unbinds = matches!(stmt.kind, StmtKind::Delete(_));
        let mut numbers = Vec::new();
        bound_names(stmt, &mut |name| numbers.extend(self.number(name)));
        if unbinds && !self.is_unread {
            self.built.graph[node].reads.extend(&numbers); // raises where the name is not bound
        }
        match (&stmt.kind, unbinds) {
            (StmtKind::AnnAssign { value: None, .. }, _) => {}
            (_, true) => self.built.graph[node].unbinds.extend(numbers),
            (_, false) => self.built.graph[node].binds.extend(numbers),
        }
        node
    }

    fn bind_walrus(&mut self, node: NodeIndex, stmt: &Stmt) {
        let loop_targets: Vec<Name> = match &stmt.kind {
            StmtKind::For(inner) => {
                let mut names = Vec::new();
                target_names(&inner.target, &mut |name| names.push(name));
                names
            }
            _ => Vec::new(),
        };
        let mut numbers = Vec::new();
        bound_names(stmt, &mut |name| {
            if !loop_targets.contains(&name) {
                numbers.extend(self.number(name));
            }
        });
        self.built.graph[node].binds.extend(numbers);
    }

    /// `before` the loop; the `head` of each iteration, and where one starts. `orelse`: None where the loop has no end.
    fn loop_body(
        &mut self,
        stmt: &Stmt,
        [before, head, start]: [NodeIndex; 3],
        body: &[Stmt],
        orelse: Option<&Vec<Stmt>>,
    ) -> Vec<NodeIndex> {
        let body_node = self.step(&[start], "body", &[]);
        let exit = self.node("loop exit");
        // Before the target is bound: a target's old value is not carried into an iteration.
        let entry = if start == head { body_node } else { start };
        self.built.loops.insert(stmt.id, LoopNodes { before, head, body: entry, exit });
        self.jumps.push(Jumps { next: head, leave: exit });
        let last = self.suite(body, vec![body_node]);
        self.jumps.pop();
        self.join(&last, head);
        if let Some(orelse) = orelse {
            let after = self.suite(orelse, vec![head]);
            self.join(&after, exit);
        }
        vec![exit]
    }

    fn try_statement(
        &mut self,
        from: &[NodeIndex],
        body: &[Stmt],
        handlers: &[Handler],
        orelse: &[Stmt],
        finalbody: &[Stmt],
    ) -> Vec<NodeIndex> {
        let finally = (!finalbody.is_empty()).then(|| self.node("finally"));
        self.catch.extend(finally);
        let dispatch = self.step(&[], "except", &[]);
        self.join(from, dispatch);
        let start = self.step(from, "try", &[]);
        self.catch.push(dispatch);
        let tried = self.suite(body, vec![start]);
        self.catch.pop();
        let mut ends = self.suite(orelse, tried);
        for handler in handlers {
            let node = self.step(&[dispatch], "handler", &handler.kind.iter().collect::<Vec<_>>());
            handler.name.iter().for_each(|&name| self.bind(node, name));
            let mut after = self.suite(&handler.body, vec![node]);
            if let Some(number) = handler.name.and_then(|name| self.number(name)) {
                let unbind = self.step(&after, "end of handler", &[]);
                self.built.graph[unbind].unbinds.push(number);
                after = vec![unbind];
            }
            ends.extend(after);
        }
        if let Some(&outer) = self.catch.last() {
            self.join(&[dispatch], outer);
        }
        let Some(finally) = finally else { return ends };
        self.catch.pop();
        self.join(&ends, finally);
        let ends = self.suite(finalbody, vec![finally]);
        // A jump out of the `try` passes through here on its way.
        let around = [self.jumps.last().copied(), self.jumps.first().copied()];
        for jumps in around.into_iter().flatten() {
            self.join(&ends, jumps.next);
            self.join(&ends, jumps.leave);
        }
        ends
    }
}

fn target_names_into(builder: &mut Builder, node: NodeIndex, target: &Expr) {
    let mut found = Vec::new();
    target_names(target, &mut |name| found.push(name));
    found.into_iter().for_each(|name| builder.bind(node, name));
}

fn is_target(stmt: &Stmt, expr: &Expr) -> bool {
    let same = |target: &Expr| std::ptr::eq(target, expr);
    match &stmt.kind {
        StmtKind::Assign { targets, .. } | StmtKind::Delete(targets) => targets.iter().any(same),
        StmtKind::AugAssign { target, .. } | StmtKind::AnnAssign { target, .. } => same(target),
        StmtKind::With { items, .. } => items.iter().filter_map(|(_, target)| target.as_ref()).any(same),
        _ => false,
    }
}

/// What evaluating a target reads: the objects of `a.b = …` and `a[i] = …`, not the plain names.
fn target_reads(target: &Expr) -> Vec<&Expr> {
    match &target.kind {
        ExprKind::Name(_) => Vec::new(),
        ExprKind::Display { items, .. } => items.iter().flat_map(target_reads).collect(),
        ExprKind::Starred(inner) => target_reads(inner),
        _ => vec![target],
    }
}

/// Whether a context manager is known not to swallow exceptions.
fn lets_exceptions_pass(manager: &Expr) -> bool {
    let ExprKind::Call(call) = &manager.kind else { return false };
    let name = match &call.callee.kind {
        ExprKind::Name(name) => name,
        ExprKind::Attribute { attr, .. } => attr,
        _ => return false,
    };
    Knowledge::shipped().lists(List::LetsExceptionsPass, name)
}
