//! The loop nest of a file, and the ways out of each loop.

use crate::scopes::{Owner, ScopeId, Scopes};
use crate::source::Range;
use crate::syntax::tree::{ExprKind, Stmt, StmtKind};
use crate::syntax::walk;

/// A loop.
#[derive(Clone, Debug)]
pub struct Loop<'t> {
    /// The loop statement.
    pub stmt: &'t Stmt,
    /// The scope it runs in.
    pub scope: ScopeId,
    /// The loop around it in the same scope: an index into [`Loops::list`].
    pub parent: Option<usize>,
    /// The ways in which control can leave it other than to the statement after it.
    pub ways_out: WaysOut,
}

impl<'t> Loop<'t> {
    /// The suite that is repeated.
    pub fn body(&self) -> &'t [Stmt] {
        match &self.stmt.kind {
            StmtKind::For(node) => &node.body,
            StmtKind::While { body, .. } => body,
            _ => &[],
        }
    }
}

/// Ways out of a loop that skip the statement after it, each with its first place.
#[derive(Clone, Copy, Debug, Default)]
pub struct WaysOut {
    /// `return`.
    pub returns: Option<Range>,
    /// `yield`, `await`, `async for`, `async with`.
    pub suspends: Option<Range>,
    /// `break` or `continue` of a loop around it, from its `else`.
    pub outer_jump: Option<Range>,
}

/// Every loop of a file, in source order.
#[derive(Debug)]
pub struct Loops<'t> {
    /// The loops.
    pub list: Vec<Loop<'t>>,
    /// For each loop, the one around it in the text, in whatever scope.
    outer: Vec<Option<usize>>,
    /// For each loop, those directly inside it in the same scope.
    children: Vec<Vec<usize>>,
}

impl<'t> Loops<'t> {
    /// Finds every `for` and `while` statement.
    pub fn new(scopes: &Scopes<'t>) -> Self {
        let mut list = Vec::new();
        for (id, scope) in scopes.list.iter().enumerate() {
            if !matches!(scope.owner, Owner::Class(_)) {
                collect(scope.body, id, None, &mut list);
            }
        }
        // Scopes come one after another; ids follow the source.
        let mut order: Vec<usize> = (0..list.len()).collect();
        order.sort_by_key(|&at| list[at].stmt.range.start);
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        let mut list: Vec<Loop> = order.iter().map(|&old| list[old].clone()).collect();
        for entry in &mut list {
            entry.parent = entry.parent.map(|old| place[old]);
        }
        let mut children = vec![Vec::new(); list.len()];
        for (at, entry) in list.iter().enumerate() {
            if let Some(parent) = entry.parent {
                children[parent].push(at);
            }
        }
        Self { outer: outer(&list), list, children }
    }

    /// The innermost loop of `scope` whose body (or `else`) holds the statement numbered `stmt`.
    pub fn around(&self, scope: ScopeId, stmt: &Stmt) -> Option<usize> {
        let begun = self.list.partition_point(|entry| entry.stmt.range.start <= stmt.range.start);
        let mut at = begun.checked_sub(1);
        while let Some(found) = at {
            let entry = &self.list[found];
            if entry.scope == scope && entry.stmt.id != stmt.id && entry.stmt.range.contains(stmt.range) {
                return at;
            }
            at = self.outer[found];
        }
        None
    }

    /// The innermost loop of `scope` that holds the statement of this number.
    pub fn around_number(&self, scope: ScopeId, stmt: usize) -> Option<usize> {
        let begun = self.list.partition_point(|entry| entry.stmt.id < stmt);
        let mut at = begun.checked_sub(1);
        while let Some(found) = at {
            if self.list[found].scope == scope && stmt <= last_number(self.list[found].stmt) {
                return at;
            }
            at = self.outer[found];
        }
        None
    }

    /// The loops directly inside loop `at`, in the same scope.
    pub fn children(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        self.children[at].iter().copied()
    }
}

/// The number of the last statement inside a statement: numbers follow the source.
fn last_number(stmt: &Stmt) -> usize {
    let mut last = stmt;
    loop {
        let inner = match &last.kind {
            StmtKind::Function(function) => function.body.last(),
            StmtKind::Class(class) => class.body.last(),
            _ => walk::suites(last).into_iter().rev().find_map(<[Stmt]>::last),
        };
        match inner {
            Some(inner) => last = inner,
            None => return last.id,
        }
    }
}

/// For each loop of a list in source order, the loop around it in the text.
fn outer(list: &[Loop]) -> Vec<Option<usize>> {
    let mut open: Vec<usize> = Vec::new();
    let mut out = Vec::with_capacity(list.len());
    for (at, entry) in list.iter().enumerate() {
        while open.last().is_some_and(|&last| !list[last].stmt.range.contains(entry.stmt.range)) {
            open.pop();
        }
        out.push(open.last().copied());
        open.push(at);
    }
    out
}

fn collect<'t>(suite: &'t [Stmt], scope: ScopeId, parent: Option<usize>, list: &mut Vec<Loop<'t>>) {
    for stmt in suite {
        let is_loop = matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. });
        let inner = if is_loop {
            list.push(Loop { stmt, scope, parent, ways_out: ways_out(stmt) });
            Some(list.len() - 1)
        } else {
            parent
        };
        for suite in walk::suites(stmt) {
            collect(suite, scope, inner, list);
        }
    }
}

fn ways_out(stmt: &Stmt) -> WaysOut {
    let mut out = WaysOut::default();
    if let StmtKind::For(node) = &stmt.kind
        && node.is_async
    {
        out.suspends = Some(stmt.range);
    }
    walk::statements(std::slice::from_ref(stmt), &mut |inner| {
        match &inner.kind {
            StmtKind::Return(_) => set(&mut out.returns, inner.range),
            StmtKind::With { is_async: true, .. } => set(&mut out.suspends, inner.range),
            StmtKind::For(node) if node.is_async => set(&mut out.suspends, inner.range),
            _ => {}
        }
        for expr in walk::own_expressions(inner) {
            walk::expressions(expr, &mut |part| {
                if matches!(part.kind, ExprKind::Yield(_) | ExprKind::Await(_)) {
                    set(&mut out.suspends, part.range);
                }
                !matches!(part.kind, ExprKind::Lambda { .. })
            });
        }
    });
    let orelse: &[Stmt] = match &stmt.kind {
        StmtKind::For(node) => &node.orelse,
        StmtKind::While { orelse, .. } => orelse,
        _ => &[],
    };
    jumps_out(orelse, &mut out.outer_jump);
    out
}

/// `break` and `continue` in a suite that belong to a loop around it.
fn jumps_out(suite: &[Stmt], found: &mut Option<Range>) {
    for stmt in suite {
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue => set(found, stmt.range),
            StmtKind::For(node) => jumps_out(&node.orelse, found),
            StmtKind::While { orelse, .. } => jumps_out(orelse, found),
            _ => walk::suites(stmt).into_iter().for_each(|inner| jumps_out(inner, found)),
        }
    }
}

fn set(slot: &mut Option<Range>, range: Range) {
    slot.get_or_insert(range);
}
