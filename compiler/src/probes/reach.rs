//! Which loops a statement runs in, at any distance.

use crate::plan::{Analysis, Plan};
use crate::scopes::{Owner, ScopeId};
use crate::syntax::tree::{Call, Expr, ExprKind, Literal, Stmt, StmtKind};
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

/// Whether a function may be run by a name that is computed: `getattr(trainer, phase + "_step")(batch)`.
fn is_looked_up(analysis: &Analysis, target: ScopeId) -> bool {
    let project = &analysis.project;
    let Owner::Function(function) = project.scopes.list[target].owner else { return false };
    let may_be = |scope: ScopeId, call: &Call| {
        let [object, name, ..] = call.args.as_slice() else { return false };
        let is_getattr = project.library_name(scope, &call.callee).is_some_and(|found| found == "builtins.getattr");
        let fits = match &name.kind {
            ExprKind::Constant(Literal::Str(name)) => *name == function.name,
            _ => true,
        };
        is_getattr && fits && project.library_name(scope, object).is_none()
    };
    let mut found = false;
    for (id, scope) in project.scopes.list.iter().enumerate() {
        walk::statements(scope.body, &mut |stmt| {
            for expr in walk::own_expressions(stmt) {
                walk::expressions(expr, &mut |part| {
                    if let ExprKind::Call(call) = &part.kind {
                        found |= as_call(&call.callee).is_some_and(|inner| may_be(id, inner));
                    }
                    !found
                });
            }
            let (value, kept_as) = match &stmt.kind {
                StmtKind::Assign { targets, value } => (value, targets.first()),
                StmtKind::Return(Some(value)) => (value, None),
                _ => return,
            };
            // An option that is only read: `value = getattr(args, name)`.
            let is_data = kept_as.is_some_and(|target| !is_called(analysis, target));
            found |= !is_data && as_call(value).is_some_and(|inner| may_be(id, inner));
        });
    }
    found
}

/// Whether a plain name is called somewhere; what is kept elsewhere than in a name may always be.
fn is_called(analysis: &Analysis, target: &Expr) -> bool {
    let ExprKind::Name(name) = &target.kind else { return true };
    let mut found = false;
    for scope in &analysis.project.scopes.list {
        walk::statements(scope.body, &mut |stmt| {
            for expr in walk::own_expressions(stmt) {
                walk::expressions(expr, &mut |part| {
                    let callee = as_call(part).map(|call| &call.callee.kind);
                    found |= matches!(callee, Some(ExprKind::Name(called)) if called == name);
                    !found
                });
            }
        });
    }
    found
}

fn as_call(expr: &Expr) -> Option<&Call> {
    match &expr.kind {
        ExprKind::Call(call) => Some(call),
        _ => None,
    }
}
