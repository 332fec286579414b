//! Whether gradients outlive a block.
//!
//! A checkpoint holds no gradients when the next thing that happens to them is to be cleared. That is so when every
//! `backward()` shares its iteration with an unconditional `zero_grad()`, and nothing else reads `.grad`. Where several
//! loops compute gradients, of a teacher and then of a student, a read in one may be of what another left.

use crate::analysis::Analysis;
use crate::knowledge::Knowledge;
use crate::loops::LoopId;
use crate::scopes::{Owner, Scope, ScopeId};
use crate::syntax::tree::{Expr, ExprKind, Literal, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// Whether some gradient may be read, or added to, after the block that computed it.
pub(super) fn live(analysis: &Analysis) -> bool {
    let mut reads_elsewhere = false;
    let mut accumulates = false;
    let several = trains_several(analysis);
    let mut computes = false;
    for (id, scope) in analysis.project.scopes.list.enumerated() {
        let computes_here = mentions(scope.body, &|name| name == "backward");
        computes |= computes_here;
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
    reads_elsewhere || accumulates || (computes && adds_to_others(analysis))
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
    receivers(suite, "zero_grad")
}

/// Of what a suite calls this method, as it is written.
fn receivers(suite: &[Stmt], method: &str) -> BTreeSet<String> {
    receivers_of(suite, &|part| receiver(part, method))
}

fn receivers_of(suite: &[Stmt], of: &dyn Fn(&Expr) -> Option<&Expr>) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk::statements(suite, &mut |stmt| {
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                found.extend(of(part).map(written));
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

/// What a piece of code does with gradients that were there before, in the order in which it runs.
#[derive(Clone, Copy, Default)]
struct Order {
    /// Some `backward()` or step of an optimizer may come before they are cleared: it adds to them, or takes them.
    adds: bool,
    /// Some that it computes may be there afterwards.
    leaves: bool,
    /// Among them some that a loop within it computes.
    of_loop: bool,
    /// They are certainly gone.
    clears: bool,
    /// Within it, one `backward()` adds to what another loop or statement left.
    mixes: bool,
}

/// Whether some `backward()` may add to gradients that another loop or function left. Those who clear before it and those who clear
/// after `step()` both see none of others, as long as a project does one or the other.
fn adds_to_others(analysis: &Analysis) -> bool {
    // whose `step()` takes gradients, as far as that is seen
    let mut optimizers = BTreeSet::new();
    for scope in analysis.project.scopes.list.iter() {
        optimizers.extend(cleared_in(scope.body));
        optimizers.extend(stepped_in(scope.body));
    }
    let order = |suite| order(suite, &optimizers);
    let functions =
        analysis.project.scopes.list.iter().filter(|scope| is_function(scope)).map(|scope| order(scope.body));
    let loops = analysis.loops.list.iter().map(|at| order(at.body()));
    let all = functions.chain(loops).fold(Order::default(), |all, one| Order {
        adds: all.adds || one.adds,
        leaves: all.leaves || one.leaves,
        mixes: all.mixes || one.mixes,
        ..Order::default()
    });
    // what stands in no function and no loop runs once: what it adds to is left before it
    let modules = analysis.project.scopes.list.iter().filter(|scope| !is_function(scope));
    all.mixes || (all.adds && all.leaves) || modules.map(|scope| order(scope.body)).any(|one| one.mixes)
}

fn is_function(scope: &Scope<'_>) -> bool {
    matches!(scope.owner, Owner::Function(_))
}

/// What steps beside a `backward()`, in a suite or those inside it. A scheduler does, too.
fn stepped_in(suite: &[Stmt]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if own_suite_mentions(suite, &|name| name == "backward") {
        let beside = suite.iter().filter(|stmt| !is_loop(stmt));
        beside.for_each(|stmt| found.extend(receivers_of(std::slice::from_ref(stmt), &|part| bare_step(part))));
    }
    suite.iter().flat_map(walk::suites).for_each(|inner| found.extend(stepped_in(inner)));
    found
}

fn order(suite: &[Stmt], optimizers: &BTreeSet<String>) -> Order {
    let mut all = Order::default();
    for stmt in suite {
        let mut one = order_of(stmt, optimizers);
        let is_of_others = !all.leaves || all.of_loop;
        one.adds |= is_of_others && takes(stmt, optimizers);
        // several in one iteration are meant to add up, and are skipped together
        all.mixes |= one.mixes || (one.adds && (all.of_loop || all.leaves && is_loop(stmt)));
        all.adds |= one.adds && !all.clears;
        all.leaves = one.leaves || (all.leaves && !one.clears);
        all.of_loop = one.of_loop || (all.of_loop && !one.clears);
        all.clears |= one.clears;
    }
    all
}

/// Whether a statement itself has an optimizer step: `optimizer.step()`, `scaler.step(optimizer)`.
fn takes(stmt: &Stmt, optimizers: &BTreeSet<String>) -> bool {
    let is_known = |expr: &Expr| optimizers.contains(&written(expr));
    let is_step = |part: &Expr| match &part.kind {
        ExprKind::Call(call) => receiver(part, "step").is_some_and(|by| is_known(by) || call.args.iter().any(is_known)),
        _ => false,
    };
    walk::own_expressions(stmt).any(|expr| any(expr, &is_step))
}

/// Of what an expression calls `step()` without arguments: that of an environment has some.
fn bare_step(expr: &Expr) -> Option<&Expr> {
    let ExprKind::Call(call) = &expr.kind else { return None };
    if call.args.is_empty() { receiver(expr, "step") } else { None }
}

fn order_of(stmt: &Stmt, optimizers: &BTreeSet<String>) -> Order {
    let computes = walk::own_expressions(stmt).any(|expr| calls(expr, &|name| name == "backward"));
    let mut all = Order { adds: computes, leaves: computes, clears: clears(stmt) && !computes, ..Order::default() };
    for suite in walk::suites(stmt) {
        let one = order(suite, optimizers);
        all.adds |= one.adds;
        all.leaves |= one.leaves;
        all.of_loop |= one.of_loop || (one.leaves && is_loop(stmt));
        all.mixes |= one.mixes;
    }
    all
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. })
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
        let starts_anew = is_loop(stmt);
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
