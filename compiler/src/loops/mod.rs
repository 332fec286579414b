//! The loop nest of a file, and the ways out of each loop.

mod header;

use crate::flow::long_call;
pub use crate::ids::LoopId;
use crate::ids::{FileId, IdVec, StmtId};
use crate::scopes::{Owner, ScopeId, Scopes};
use crate::source::Range;
use crate::syntax::File;
use crate::syntax::tree::{ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
pub use header::{last_of_body, variables};
use std::collections::BTreeMap;

/// A loop, or a call of a library in which a loop is ([`Loop::is_call`]).
#[derive(Clone, Debug)]
pub struct Loop<'t> {
    /// The statement.
    pub stmt: &'t Stmt,
    /// The scope it runs in.
    pub scope: ScopeId,
    /// The loop around it in the same scope: an index into [`Loops::list`].
    pub parent: Option<LoopId>,
    /// The ways in which control can leave it other than to the statement after it.
    pub ways_out: WaysOut,
}

impl<'t> Loop<'t> {
    /// Whether it is a statement that calls a library, and no loop of the user's.
    pub fn is_call(&self) -> bool {
        !matches!(self.stmt.kind, StmtKind::For(_) | StmtKind::While { .. })
    }

    /// The suite that is repeated.
    pub fn body(&self) -> &'t [Stmt] {
        loop_body(self.stmt)
    }
}

/// The suite that a loop repeats; nothing of other statements.
pub fn loop_body(stmt: &Stmt) -> &[Stmt] {
    match &stmt.kind {
        StmtKind::For(node) => &node.body,
        StmtKind::While { body, .. } => body,
        _ => &[],
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

/// Every loop of a project, file by file in source order.
#[derive(Debug)]
pub struct Loops<'t> {
    /// The loops.
    pub list: IdVec<LoopId, Loop<'t>>,
    /// By the number of a statement: the innermost loop of its scope around it.
    innermost: IdVec<StmtId, Option<LoopId>>,
    /// By the number of a loop statement.
    of_statement: BTreeMap<StmtId, LoopId>,
}

impl<'t> Loops<'t> {
    /// Finds every `for` and `while` statement.
    pub fn new(scopes: &Scopes<'t>) -> Self {
        Self::and_calls(scopes, &|_, _| false)
    }

    /// Also the statements that may take as long as a loop, and of which `is_library` says that a library runs there.
    pub fn and_calls(scopes: &Scopes<'t>, is_library: &dyn Fn(ScopeId, &'t Stmt) -> bool) -> Self {
        let mut list = IdVec::default();
        for (id, scope) in scopes.list.enumerated() {
            if !matches!(scope.owner, Owner::Class(_)) {
                collect(scope.body, id, None, is_library, &mut list);
            }
        }
        // Scopes come one after another; ids follow the source.
        let mut order: IdVec<LoopId, LoopId> = list.ids().collect();
        order.sort_by_key(|&at| list[at].stmt.id);
        let mut place = IdVec::all(LoopId::FIRST, &order);
        order.enumerated().for_each(|(new, &old)| place[old] = new);
        let mut list: IdVec<LoopId, Loop> = order.iter().map(|&old| list[old].clone()).collect();
        for entry in &mut list {
            entry.parent = entry.parent.map(|old| place[old]);
        }
        let innermost = innermost(&list);
        let of_statement = list.enumerated().map(|(at, entry)| (entry.stmt.id, at)).collect();
        Self { list, innermost, of_statement }
    }

    /// `L1`, `L2`, … in each file, with its qualifier; calls are `C1`, `C2`, ….
    pub fn names(&self, scopes: &Scopes, files: &[File]) -> IdVec<LoopId, String> {
        let mut counts: IdVec<FileId, [usize; 2]> = IdVec::all([0; 2], &scopes.modules);
        let name = |entry: &Loop| {
            let file = scopes.list[entry.scope].file;
            let (kind, letter) = if entry.is_call() { (1, 'C') } else { (0, 'L') };
            counts[file][kind] += 1;
            format!("{}{letter}{}", files[file].qualifier(), counts[file][kind])
        };
        self.list.iter().map(name).collect()
    }

    /// A loop, and those around it in the same scope, innermost first.
    pub fn and_around(&self, at: LoopId) -> impl Iterator<Item = LoopId> {
        std::iter::successors(Some(at), |&at| self.list[at].parent)
    }

    /// The loop that a statement is.
    pub fn of(&self, stmt: StmtId) -> Option<LoopId> {
        self.of_statement.get(&stmt).copied()
    }

    /// The innermost loop whose body (or `else`) holds the statement numbered `stmt`, in the statement's own scope; of a call that is in
    /// the list, this.
    pub fn around(&self, stmt: StmtId) -> Option<LoopId> {
        self.innermost.get(stmt).copied().flatten()
    }
}

/// By the number of a statement: the innermost loop around it. Inner loops come later and overwrite.
fn innermost(list: &IdVec<LoopId, Loop>) -> IdVec<StmtId, Option<LoopId>> {
    let mut found = IdVec::default();
    for (at, entry) in list.enumerated() {
        if entry.is_call() {
            *found.or_insert_with(entry.stmt.id, || None) = Some(at);
        }
        for suite in walk::suites(entry.stmt) {
            walk::statements(suite, &mut |stmt| {
                *found.or_insert_with(stmt.id, || None) = Some(at);
            });
        }
    }
    found
}

fn collect<'t>(
    suite: &'t [Stmt],
    scope: ScopeId,
    parent: Option<LoopId>,
    is_library: &dyn Fn(ScopeId, &'t Stmt) -> bool,
    list: &mut IdVec<LoopId, Loop<'t>>,
) {
    for stmt in suite {
        let is_loop = matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. })
            || long_call(stmt).is_some() && is_library(scope, stmt);
        let inner =
            if is_loop { Some(list.push(Loop { stmt, scope, parent, ways_out: ways_out(stmt) })) } else { parent };
        for suite in walk::suites(stmt) {
            collect(suite, scope, inner, is_library, list);
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
    out.outer_jump = outer_jump(stmt);
    out
}

/// The first `break` or `continue` of a loop around a loop, in its `else`.
pub fn outer_jump(stmt: &Stmt) -> Option<Range> {
    let orelse: &[Stmt] = match &stmt.kind {
        StmtKind::For(node) => &node.orelse,
        StmtKind::While { orelse, .. } => orelse,
        _ => &[],
    };
    let mut found = None;
    jumps(orelse, &mut |jump| set(&mut found, jump.range));
    found
}

/// Where the `break`s of a loop are.
pub fn breaks_of(stmt: &Stmt) -> Vec<Range> {
    let mut found = Vec::new();
    jumps(loop_body(stmt), &mut |jump| found.extend(matches!(jump.kind, StmtKind::Break).then_some(jump.range)));
    found
}

/// `break` and `continue` in a suite that belong to a loop around it.
fn jumps(suite: &[Stmt], visit: &mut dyn FnMut(&Stmt)) {
    for stmt in suite {
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue => visit(stmt),
            StmtKind::For(node) => jumps(&node.orelse, visit),
            StmtKind::While { orelse, .. } => jumps(orelse, visit),
            _ => walk::suites(stmt).for_each(|inner| jumps(inner, visit)),
        }
    }
}

fn set(slot: &mut Option<Range>, range: Range) {
    slot.get_or_insert(range);
}
