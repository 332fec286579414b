//! Functions that are run by a name that is computed: `getattr(trainer, phase + "_step")(batch)`.

use crate::analysis::Analysis;
use crate::name::Name;
use crate::project::Denoted;
use crate::scopes::{Owner, ScopeId};
use crate::syntax::tree::{Call, Expr, ExprKind, Literal, StmtKind};
use crate::syntax::walk;

/// How many calls far it is looked for what a parameter stands for.
const DEPTH: usize = 3;

/// Whether a function may be run by a name that is computed.
pub(super) fn is_looked_up(analysis: &Analysis, target: ScopeId) -> bool {
    let project = &analysis.project;
    let Owner::Function(function) = project.scopes.list[target].owner else { return false };
    let may_be = |scope: ScopeId, call: &Call| {
        let [object, name, ..] = call.args.as_slice() else { return false };
        let is_getattr = project.library_name(scope, &call.callee).is_some_and(|found| found == "builtins.getattr");
        let fits = match &name.kind {
            ExprKind::Constant(Literal::Str(name)) => function.name == name.as_str(),
            _ => true,
        };
        is_getattr && fits && may_hold(analysis, scope, object, target, DEPTH)
    };
    let mut found = false;
    for (id, scope) in project.scopes.list.enumerated() {
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

/// Whether a function of the project may be an attribute of an object: of a module that is the function's own, of an object
/// or class for a method, of anything where nobody knows what it is.
fn may_hold(analysis: &Analysis, scope: ScopeId, object: &Expr, target: ScopeId, depth: usize) -> bool {
    let project = &analysis.project;
    let is_method = project.scopes.class_of(target).is_some();
    if project.library_name(scope, object).is_some() {
        return false;
    }
    match project.denoted(scope, object) {
        Some(Denoted::Module(module)) => return !is_method && project.module_name(target) == Some(module.as_str()),
        Some(Denoted::Definitions(_)) => return is_method,
        _ => {}
    }
    let ExprKind::Name(name) = &object.kind else {
        return is_method || project.class_of_value(scope, object).is_none();
    };
    if project.scopes.self_name(scope) == Some(*name) || project.class_of_value(scope, object).is_some() {
        return is_method;
    }
    match arguments_for(analysis, scope, *name) {
        Some(given) if depth > 0 => given.iter().any(|(at, value)| may_hold(analysis, *at, value, target, depth - 1)),
        _ => true,
    }
}

/// What all calls of a function give for a parameter, and where; None where not all calls are known.
fn arguments_for<'t>(analysis: &Analysis<'t>, scope: ScopeId, name: Name) -> Option<Vec<(ScopeId, &'t Expr)>> {
    let project = &analysis.project;
    let Owner::Function(function) = project.scopes.list[scope].owner else { return None };
    let position = function.params.iter().position(|param| param.name == name)?;
    let is_bound_anew = project.index.assigned.contains(scope, name);
    if is_bound_anew || analysis.graph.mentioned.contains(&scope) {
        return None;
    }
    let is_method = project.scopes.class_of(scope).is_some();
    let mut given = Some(Vec::new());
    for (at, caller) in project.scopes.list.enumerated() {
        let body: &'t [_] = caller.body;
        walk::statements(body, &mut |stmt| {
            for expr in walk::own_expressions(stmt) {
                walk::expressions(expr, &mut |part| {
                    let ExprKind::Call(call) = &part.kind else { return true };
                    let (called, receiver) = match &call.callee.kind {
                        ExprKind::Name(called) => (called, 0),
                        ExprKind::Attribute { attr, .. } => (attr, usize::from(is_method)),
                        _ => return true,
                    };
                    if *called == function.name {
                        match argument(call, position.checked_sub(receiver), &name) {
                            Some(value) => given.iter_mut().for_each(|found| found.push((at, value))),
                            None => given = None,
                        }
                    }
                    true
                });
            }
        });
    }
    given.filter(|found| !found.is_empty())
}

/// What a call gives for a parameter; None where it does not say.
fn argument<'t>(call: &'t Call, position: Option<usize>, name: &str) -> Option<&'t Expr> {
    let position = position?;
    let named = call.keywords.iter().find(|(key, _)| key.as_deref() == Some(name)).map(|(_, value)| value);
    let is_spread = call.args.iter().take(position + 1).any(|arg| matches!(arg.kind, ExprKind::Starred(_)));
    if is_spread { None } else { named.or_else(|| call.args.get(position)) }
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
