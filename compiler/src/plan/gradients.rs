//! Whether gradients outlive a block.
//!
//! A checkpoint holds no gradients when the next thing that happens to them is to be cleared. That is so when every
//! `backward()` shares its iteration with an unconditional `zero_grad()`, and nothing else reads `.grad`. Where several
//! loops compute gradients, of a teacher and then of a student, a read in one may be of what another left.

use crate::analysis::Analysis;
use crate::knowledge::Knowledge;
use crate::loops::LoopId;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// Whether some gradient may be read, or added to, after the block that computed it.
pub(super) fn live(analysis: &Analysis) -> bool {
    let mut reads_elsewhere = false;
    let mut accumulates = false;
    let several = trains_several(analysis);
    for (id, scope) in analysis.project.scopes.list.enumerated() {
        let computes_here = mentions(scope.body, &|name| name == "backward");
        accumulates |= computes_here && accumulates_in(scope.body, false);
        if !computes_here {
            reads_elsewhere |= reads_gradient(analysis, id, scope.body) && !called_beside_backward(analysis, id);
            continue;
        }
        walk::statements(scope.body, &mut |stmt| {
            if statement_reads_gradient(analysis, id, stmt) {
                let beside = analysis.loops.around(stmt.id).is_none_or(|at| beside_backward(analysis, at));
                let inside_any = analysis.loops.around(stmt.id).is_some();
                reads_elsewhere |= !(beside && inside_any) || several;
            }
        });
    }
    reads_elsewhere || accumulates
}

/// Whether there are loops, none of them inside another, that compute gradients, and clear those of different optimizers.
fn trains_several(analysis: &Analysis) -> bool {
    let list = &analysis.loops.list;
    let computes = |at: &LoopId| own_suite_mentions(list[*at].body(), &|name| name == "backward");
    let training: Vec<LoopId> = list.ids().filter(computes).collect();
    let is_inside = |inner, outer| analysis.loops.and_around(inner).any(|at| at == outer);
    let cleared: Vec<BTreeSet<String>> = training.iter().map(|&at| cleared_in(list[at].body())).collect();
    if cleared.windows(2).all(|pair| pair[0] == pair[1]) {
        return false;
    }
    training.iter().enumerate().any(|(n, &one)| {
        training
            .iter()
            .enumerate()
            .skip(n + 1)
            .any(|(m, &two)| !is_inside(one, two) && !is_inside(two, one) && cleared[n] != cleared[m])
    })
}

/// Whose gradients a suite clears, as it is written.
fn cleared_in(suite: &[Stmt]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk::statements(suite, &mut |stmt| {
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                if let ExprKind::Call(call) = &part.kind
                    && let ExprKind::Attribute { value, attr } = &call.callee.kind
                    && attr == "zero_grad"
                {
                    found.insert(written(value));
                }
                true
            });
        }
    });
    found
}

fn written(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Attribute { value, attr } => format!("{}.{attr}", written(value)),
        _ => "…".to_owned(),
    }
}

/// Whether `backward()` runs in an iteration of this loop, or of one around it in the same function.
fn beside_backward(analysis: &Analysis, at: LoopId) -> bool {
    let computes = |at: LoopId| own_suite_mentions(analysis.loops.list[at].body(), &|name| name == "backward");
    analysis.loops.and_around(at).any(computes)
}

/// Whether every call of a function stands in a loop that computes gradients.
fn called_beside_backward(analysis: &Analysis, target: ScopeId) -> bool {
    let mut sites = analysis.graph.sites.iter().filter(|site| site.targets.contains(&target)).peekable();
    sites.peek().is_some()
        && sites.all(|site| analysis.loops.around(site.stmt).is_some_and(|at| beside_backward(analysis, at)))
}

/// Whether some `backward()` runs without an unconditional clearing of gradients in the same iteration.
fn accumulates_in(suite: &[Stmt], cleared: bool) -> bool {
    let cleared = cleared || suite.iter().any(clears);
    suite.iter().any(|stmt| {
        let computes = walk::own_expressions(stmt).any(|expr| calls(expr, &|name| name == "backward"));
        let starts_anew = matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. });
        (computes && !cleared) || walk::suites(stmt).any(|inner| accumulates_in(inner, cleared && !starts_anew))
    })
}

/// `optimizer.zero_grad()`, `w.grad.zero_()`, `w.grad = None`, also inside a `for p in …` or a `with` at this level.
fn clears(stmt: &Stmt) -> bool {
    let here = match &stmt.kind {
        StmtKind::Assign { targets, .. } => targets.iter().any(is_gradient),
        _ => walk::own_expressions(stmt).any(|expr| calls(expr, &|name| name == "zero_grad") || zeroes(expr)),
    };
    let inside: &[Stmt] = match &stmt.kind {
        StmtKind::For(node) => &node.body,
        StmtKind::With { body, .. } => body,
        _ => &[],
    };
    // A loop that computes gradients clears only its own.
    here || (!mentions(inside, &|name| name == "backward") && inside.iter().any(clears))
}

fn zeroes(expr: &Expr) -> bool {
    any(expr, &|part| match &part.kind {
        ExprKind::Call(call) => match &call.callee.kind {
            ExprKind::Attribute { value, attr } => attr == "zero_" && any(value, &is_gradient),
            _ => false,
        },
        _ => false,
    })
}

fn reads_gradient(analysis: &Analysis, scope: ScopeId, suite: &[Stmt]) -> bool {
    let mut found = false;
    walk::statements(suite, &mut |stmt| found |= statement_reads_gradient(analysis, scope, stmt));
    found
}

fn statement_reads_gradient(analysis: &Analysis, scope: ScopeId, stmt: &Stmt) -> bool {
    walk::own_expressions(stmt).any(|expr| {
        any(expr, &|part| match &part.kind {
            ExprKind::Attribute { .. } => is_gradient(part),
            ExprKind::Call(call) => {
                let library = analysis.project.library_name(scope, &call.callee);
                let facts = library.and_then(|name| Knowledge::shipped().function_named(name));
                facts.is_some_and(|facts| facts.gradients) || callee_name(&call.callee).contains("grad_norm")
            }
            _ => false,
        })
    })
}

fn is_gradient(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Attribute { attr, .. } if attr == "grad")
}

fn callee_name(callee: &Expr) -> &str {
    match &callee.kind {
        ExprKind::Name(name) => name,
        ExprKind::Attribute { attr, .. } => attr,
        _ => "",
    }
}

fn calls(expr: &Expr, wanted: &dyn Fn(&str) -> bool) -> bool {
    any(expr, &|part| match &part.kind {
        ExprKind::Call(call) => wanted(callee_name(&call.callee)),
        _ => false,
    })
}

fn mentions(suite: &[Stmt], wanted: &dyn Fn(&str) -> bool) -> bool {
    let mut found = false;
    walk::statements(suite, &mut |stmt| {
        found |= walk::own_expressions(stmt).any(|expr| calls(expr, wanted));
    });
    found
}

/// Like [`mentions`], without the loops inside the suite.
fn own_suite_mentions(suite: &[Stmt], wanted: &dyn Fn(&str) -> bool) -> bool {
    suite.iter().any(|stmt| {
        let is_loop = matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. });
        walk::own_expressions(stmt).any(|expr| calls(expr, wanted))
            || (!is_loop && walk::suites(stmt).any(|inner| own_suite_mentions(inner, wanted)))
    })
}

fn any(expr: &Expr, test: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = false;
    walk::expressions(expr, &mut |part| {
        found |= test(part);
        !found
    });
    found
}
