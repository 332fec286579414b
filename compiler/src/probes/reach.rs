//! Which loops a statement runs in, at any distance.

use super::lookup::is_looked_up;
use crate::plan::{Analysis, Plan};
use crate::scopes::ScopeId;
use crate::syntax::tree::{ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// The loops that run a statement: those around it, and those that call the function it is in, at any distance.
/// Where it cannot be known who calls the function (a method that PyTorch calls, a hook), every loop.
pub(super) fn loops_reached(analysis: &Analysis, plans: &[Plan], stmt: &Stmt) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let scopes = &analysis.project.scopes;
    let all = || plans.iter().flat_map(|plan| &plan.loops).map(|entry| entry.id.clone());
    let header = |id: usize| analysis.loops.list.iter().position(|entry| entry.stmt.id == id);
    let mut todo = vec![(scopes.holder(stmt.id), stmt.id)];
    let mut seen = BTreeSet::new();
    if registers_hook(stmt) {
        return all().collect();
    }
    while let Some((scope, id)) = todo.pop() {
        // What a loop's header calls runs in the loop: a generator all the while, a condition in every iteration.
        let mut around = header(id).or_else(|| analysis.loops.around(id));
        while let Some(at) = around {
            reached.extend(all().nth(at));
            around = analysis.loops.list[at].parent;
        }
        if scopes.is_module(scope) || !seen.insert(scope) {
            continue;
        }
        let callers: Vec<_> = analysis.graph.sites.iter().filter(|site| site.targets.contains(&scope)).collect();
        let hidden = analysis.graph.mentioned.contains(&scope)
            || is_implicit(analysis, scope)
            || callers.is_empty()
            || is_looked_up(analysis, scope)
            || (is_generator(analysis, scope) && !callers.iter().all(|site| advances(analysis, site.stmt)));
        if hidden {
            return all().collect();
        }
        todo.extend(callers.into_iter().map(|site| (site.scope, site.stmt)));
    }
    reached
}

fn is_implicit(analysis: &Analysis, scope: ScopeId) -> bool {
    let scopes = &analysis.project.scopes;
    let name = scopes.list[scope].qualname.rsplit('.').next().unwrap_or("");
    let nested =
        scopes.list[scope].parent.is_some_and(|parent| !scopes.is_module(parent) && scopes.class_of(scope).is_none());
    name == "forward" || (name.starts_with("__") && name != "__init__") || nested
}

fn registers_hook(stmt: &Stmt) -> bool {
    let mut found = false;
    walk::statements(std::slice::from_ref(stmt), &mut |inner| {
        for expr in walk::own_expressions(inner) {
            walk::expressions(expr, &mut |part| {
                if let ExprKind::Attribute { attr, .. } = &part.kind {
                    found |= attr.starts_with("register_") && attr.contains("hook");
                }
                true
            });
        }
    });
    found
}

/// Whether the body of a function runs elsewhere than where it is called: whenever its result is advanced.
fn is_generator(analysis: &Analysis, scope: ScopeId) -> bool {
    let mut found = false;
    walk::statements(analysis.project.scopes.list[scope].body, &mut |stmt| {
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                found |= matches!(part.kind, ExprKind::Yield(_));
                !matches!(part.kind, ExprKind::Lambda { .. })
            });
        }
    });
    found
}

/// Whether a generator that this statement calls is advanced by it: the header of a loop or of a `with`.
fn advances(analysis: &Analysis, id: usize) -> bool {
    let mut found = false;
    for scope in &analysis.project.scopes.list {
        walk::statements(scope.body, &mut |stmt| {
            found |= stmt.id == id && matches!(stmt.kind, StmtKind::For(_) | StmtKind::With { .. });
        });
    }
    found
}
