//! Whether gradients outlive a block.
//!
//! Gradients are state like any other: a checkpoint holds them, unless it is shown that each is cleared before anything reads it or
//! adds to it. That is shown in one shape only, which most training loops have: every `backward()` stands in one loop (or function),
//! behind an unconditional `zero_grad()` of the optimizer that steps there, and so does whatever reads `.grad`. While recording, each
//! checkpoint is checked as well: a gradient that no such optimizer clears is kept (`record/gradients.py`).

use crate::analysis::Analysis;
use crate::ids::StmtId;
use crate::knowledge::Knowledge;
use crate::loops::LoopId;
use crate::scopes::{Owner, Scope, ScopeId};
use crate::syntax::tree::{Expr, ExprKind, Literal, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// Whether some gradient may be read, or added to, after the block that computed it.
pub(super) fn live(analysis: &Analysis) -> bool {
    let mut units = BTreeSet::new();
    let mut has_reads = false;
    for (id, scope) in analysis.project.scopes.list.enumerated() {
        walk::statements(scope.body, &mut |stmt| {
            if computes(stmt) {
                units.insert(Unit { scope: id, at: analysis.loops.around(stmt.id) });
            }
            has_reads |= statement_reads_gradient(analysis, id, stmt);
        });
    }
    match units.first() {
        None => has_reads,
        Some(unit) => units.len() > 1 || !unit.is_shown(analysis),
    }
}

/// The innermost loop, or the function without one, that `backward()` stands in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Unit {
    scope: ScopeId,
    at: Option<LoopId>,
}

impl Unit {
    fn suite<'t>(&self, analysis: &Analysis<'t>) -> &'t [Stmt] {
        self.at.map_or(analysis.project.scopes.list[self.scope].body, |at| analysis.loops.list[at].body())
    }

    fn is_shown(&self, analysis: &Analysis) -> bool {
        let suite = self.suite(analysis);
        let cleared = cleared_in(suite);
        if !suite_any(suite, &|stmt| takes(stmt, &cleared)) {
            return false;
        }
        analysis.project.scopes.list.enumerated().all(|(id, scope)| {
            let mut is_shown = true;
            walk::statements(scope.body, &mut |stmt| {
                let needs = computes(stmt) || takes(stmt, &cleared) || statement_reads_gradient(analysis, id, stmt);
                is_shown &= !needs || self.is_behind(analysis, id, stmt.id);
            });
            is_shown
        })
    }

    /// Whether gradients are certainly cleared in the same iteration before a statement of some scope runs.
    fn is_behind(&self, analysis: &Analysis, scope: ScopeId, stmt: StmtId) -> bool {
        let suite = self.suite(analysis);
        if scope == self.scope {
            return cleared_before(suite, stmt, &mut false).unwrap_or(false);
        }
        let mut sites = analysis.graph.sites.iter().filter(|site| site.targets.contains(&scope)).peekable();
        sites.peek().is_some() && sites.all(|site| cleared_before(suite, site.stmt, &mut false).unwrap_or(false))
    }
}

/// Whether a suite certainly clears gradients before a statement within it; None if that is not in it.
fn cleared_before(suite: &[Stmt], wanted: StmtId, is_cleared: &mut bool) -> Option<bool> {
    for stmt in suite {
        if stmt.id == wanted {
            return Some(*is_cleared);
        }
        let inside = walk::suites(stmt).find_map(|inner| cleared_before(inner, wanted, &mut is_cleared.clone()));
        if inside.is_some() {
            return inside;
        }
        *is_cleared |= clears(stmt) && !mentions(std::slice::from_ref(stmt), &|name| name == "backward");
    }
    None
}

/// Whether a statement itself computes gradients.
fn computes(stmt: &Stmt) -> bool {
    walk::own_expressions(stmt).any(|expr| calls(expr, &|name| name == "backward"))
}

/// Whether gradients may come to be where no call of a method `backward` shows it: `torch.autograd.backward(…)`, `p.grad = g`,
/// `getattr(loss, "backward")()`, `run = loss.backward`, and functions that somebody else calls (`optimizer.step(closure)`, `__exit__`).
/// Then every loop may compute some, and nothing is known of the order in which they are cleared and read.
pub(super) fn hidden(analysis: &Analysis) -> bool {
    analysis.project.scopes.list.enumerated().any(|(id, scope)| {
        let mut found = is_function(scope)
            && own_suite_mentions(scope.body, &|name| name == "backward")
            && !analysis.graph.sites.iter().any(|site| site.targets.contains(&id));
        walk::statements(scope.body, &mut |stmt| {
            found = found
                || sets_gradient(stmt)
                || walk::own_expressions(stmt).any(|expr| hides_backward(analysis, id, expr));
        });
        found
    })
}

/// `p.grad = g`.
fn sets_gradient(stmt: &Stmt) -> bool {
    let is_none = |value: &Expr| matches!(value.kind, ExprKind::Constant(Literal::None));
    match &stmt.kind {
        StmtKind::Assign { targets, value } => {
            targets.iter().any(|target| any(target, &is_gradient)) && !is_none(value)
        }
        StmtKind::AnnAssign { target, value: Some(value), .. } => is_gradient(target) && !is_none(value),
        _ => false,
    }
}

const ATTRIBUTES_BY_NAME: &[&str] = &["builtins.getattr", "builtins.setattr", "operator.methodcaller"];

fn is_name_of_it(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Constant(Literal::Str(text)) if text == "backward" || text == "grad")
}

fn hides_backward(analysis: &Analysis, scope: ScopeId, expr: &Expr) -> bool {
    let mut found = false;
    walk::expressions(expr, &mut |part| {
        match &part.kind {
            ExprKind::Call(call) => {
                let library = analysis.project.library_name(scope, &call.callee);
                found |= library.is_some_and(|name| name.as_str() == "torch.autograd.backward");
                let by_name = library.is_some_and(|name| ATTRIBUTES_BY_NAME.contains(&name.as_str()));
                found |= by_name && call.args.iter().any(is_name_of_it);
                if callee_name(&call.callee) == "backward" {
                    // in plain sight; what stands in it is looked at all the same
                    let inside = call.args.iter().chain(call.keywords.iter().map(|(_, value)| value));
                    found |= inside.into_iter().any(|part| hides_backward(analysis, scope, part));
                    if let ExprKind::Attribute { value, .. } = &call.callee.kind {
                        found |= hides_backward(analysis, scope, value);
                    }
                    return false;
                }
            }
            ExprKind::Attribute { attr: name, .. } | ExprKind::Name(name) => found |= name == "backward",
            ExprKind::Lambda { body, .. } => found |= calls(body, &|name| name == "backward"),
            _ => {}
        }
        !found
    });
    found
}

/// What a suite calls `zero_grad()` of, as it is written: names and attributes of names.
fn cleared_in(suite: &[Stmt]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk::statements(suite, &mut |stmt| {
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                found.extend(receiver(part, "zero_grad").and_then(written));
                true
            });
        }
    });
    found
}

/// Of what an expression calls this method, if it does.
fn receiver<'t>(expr: &'t Expr, method: &str) -> Option<&'t Expr> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    match &call.callee.kind {
        ExprKind::Attribute { value, attr } if attr == method => Some(value),
        _ => None,
    }
}

fn written(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.to_string()),
        ExprKind::Attribute { value, attr } => Some(format!("{}.{attr}", written(value)?)),
        _ => None,
    }
}

fn is_function(scope: &Scope<'_>) -> bool {
    matches!(scope.owner, Owner::Function(_))
}

/// Whether a statement itself has an optimizer step: `optimizer.step()`, `scaler.step(optimizer)`.
fn takes(stmt: &Stmt, optimizers: &BTreeSet<String>) -> bool {
    let is_known = |expr: &Expr| written(expr).is_some_and(|name| optimizers.contains(&name));
    let is_step = |part: &Expr| match &part.kind {
        ExprKind::Call(call) => receiver(part, "step").is_some_and(|by| is_known(by) || call.args.iter().any(is_known)),
        _ => false,
    };
    walk::own_expressions(stmt).any(|expr| any(expr, &is_step))
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. })
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

fn suite_any(suite: &[Stmt], wanted: &dyn Fn(&Stmt) -> bool) -> bool {
    let mut found = false;
    walk::statements(suite, &mut |stmt| found |= wanted(stmt));
    found
}

fn mentions(suite: &[Stmt], wanted: &dyn Fn(&str) -> bool) -> bool {
    suite_any(suite, &|stmt| walk::own_expressions(stmt).any(|expr| calls(expr, wanted)))
}

/// Like [`mentions`], without the loops inside the suite.
fn own_suite_mentions(suite: &[Stmt], wanted: &dyn Fn(&str) -> bool) -> bool {
    suite.iter().any(|stmt| {
        walk::own_expressions(stmt).any(|expr| calls(expr, wanted))
            || (!is_loop(stmt) && walk::suites(stmt).any(|inner| own_suite_mentions(inner, wanted)))
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
