//! Which functions other compilers may read: `torch.compile`, `torch.jit`, numba. Nothing is written into these.

use super::model::LoopPlan;
use crate::analysis::Analysis;
use crate::calls::functions_named;
use crate::knowledge::{Knowledge, List};
use crate::name::Name;
use crate::project::dotted;
use crate::scopes::{Owner, ScopeId};
use crate::syntax::tree::{Call, Expr, ExprKind, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// Every function that one of them may read.
///
/// One that is named is read with all that it runs. Where it is not known what is given, as in `torch.compile(model)`, these are
/// the methods of every class that derives from a class of a library or is called like a function, and every function that is
/// passed around, unless it holds a loop that florc wraps: that would be read neither. It is not known either where the compiler
/// itself is passed around (`partial(torch.compile, fullgraph=True)`).
pub(super) fn compiled(analysis: &Analysis, loops: &[LoopPlan]) -> BTreeSet<ScopeId> {
    let mut roots = BTreeSet::new();
    let mut is_anything = is_passed_around(analysis);
    let has_datasets = analysis.project.index.imports.values().any(|name| name.split('.').next() == Some("datasets"));
    each_definition(analysis, &mut |scope, target, decorators| {
        let given =
            |part: &Expr| matches!(&part.kind, ExprKind::Call(call) if is_reader(analysis, scope, &call.callee));
        if decorators.iter().any(|one| is_reader(analysis, scope, one) || given(one)) {
            roots.extend(methods_or_itself(analysis, target));
        }
    });
    analysis.each_expression(&mut |scope, part| {
        let ExprKind::Call(call) = &part.kind else { return };
        let by_hash = has_datasets
            && matches!(&call.callee.kind, ExprKind::Attribute { attr, .. } if Knowledge::shipped().lists(List::HashesFunctions, attr));
        if by_hash {
            roots.extend(call_values(call).flat_map(|value| functions_named(&analysis.project, scope, value)));
        } else if is_reader(analysis, scope, &call.callee) && !is_of_keras(call) {
            is_anything |= !given(analysis, scope, call, &mut roots);
        }
        let asks = |key: &str| key.split('_').any(|word| Knowledge::shipped().lists(List::ReadsCode, word));
        is_anything |= call.keywords.iter().any(|(key, _)| key.map(Name::as_str).is_some_and(asks));
    });
    if is_anything {
        roots.extend(methods_of_libraries(analysis));
    }
    let mut found = analysis.graph.below(roots);
    let is_opaque = analysis.graph.sites.iter().any(|site| site.opaque && found.contains(&site.scope));
    if is_opaque || is_anything {
        let kept = holding_loops(analysis, loops);
        let in_lambdas =
            analysis.graph.sites.iter().filter(|site| site.deferred).flat_map(|site| site.targets.iter().copied());
        let passed =
            analysis.graph.mentioned.iter().copied().chain(in_lambdas).filter(|function| !kept.contains(function));
        found.extend(analysis.graph.below(passed).into_iter().filter(|function| !kept.contains(function)));
        found.extend(nested(analysis).filter(|function| !kept.contains(function)));
    }
    found
}

/// `torch.compile`, `numba.njit`, `model.compile`; not `re.compile`.
fn is_reader(analysis: &Analysis, scope: ScopeId, callee: &Expr) -> bool {
    let name = analysis.project.library_name(scope, callee).or_else(|| dotted(callee)).unwrap_or(Name::NONE);
    let first = name.split('.').next().unwrap_or("");
    let is_other = Knowledge::shipped().lists(List::ReadsNoCode, first);
    let is_tensorflow = matches!(first, "tensorflow" | "tf") && name.ends_with(".function");
    !is_other && (is_tensorflow || name.split('.').any(|part| Knowledge::shipped().lists(List::ReadsCode, part)))
}

/// `model.compile(optimizer=…)` of Keras reads no code, unless `jit_compile` is asked for.
fn is_of_keras(call: &Call) -> bool {
    let is_compile = matches!(&call.callee.kind, ExprKind::Attribute { attr, .. } if attr == "compile");
    let tells = |key: &Option<Name>| key.is_some_and(|key| Knowledge::shipped().lists(List::TellsKeras, &key));
    is_compile && call.keywords.iter().any(|(key, _)| tells(key))
}

/// The functions that a call of a compiler names are added; whether all that it is given is known.
fn given(analysis: &Analysis, scope: ScopeId, call: &Call, roots: &mut BTreeSet<ScopeId>) -> bool {
    let Some(first) = call_values(call).next() else { return matches!(call.callee.kind, ExprKind::Name(_)) };
    let named = functions_named(&analysis.project, scope, first);
    if !named.is_empty() {
        roots.extend(named);
        return true;
    }
    walk::expressions(first, &mut |part| {
        roots.extend(functions_named(&analysis.project, scope, part)); // `torch.compile(grad(loss))`, of a lambda
        true
    });
    matches!(first.kind, ExprKind::Constant(_))
}

/// Whether a compiler is a value somewhere, instead of being called or decorating.
fn is_passed_around(analysis: &Analysis) -> bool {
    let mut known: BTreeSet<*const Expr> = BTreeSet::new();
    each_definition(analysis, &mut |_, _, decorators| {
        for one in decorators {
            walk::expressions(one, &mut |part| {
                known.insert(part);
                true
            });
        }
    });
    let mut values = Vec::new();
    analysis.each_expression(&mut |scope, part| match &part.kind {
        ExprKind::Call(call) => drop(known.insert(&call.callee)),
        ExprKind::Attribute { value, .. } => {
            known.insert(&**value);
            values.push((scope, part));
        }
        ExprKind::Name(_) => values.push((scope, part)),
        _ => {}
    });
    let is_compiler = |scope: ScopeId, part: &Expr| {
        let named = analysis.project.library_name(scope, part);
        named.is_some_and(|name| {
            let last = name.rsplit('.').next().unwrap_or("");
            name.contains('.') && Knowledge::shipped().lists(List::Compiles, last)
        }) && is_reader(analysis, scope, part)
    };
    values.iter().any(|(scope, part)| !known.contains(&std::ptr::from_ref::<Expr>(part)) && is_compiler(*scope, part))
}

fn call_values(call: &Call) -> impl Iterator<Item = &Expr> {
    call.args.iter().chain(call.keywords.iter().map(|(_, value)| value))
}

/// The methods of classes that a library may run as a whole.
fn methods_of_libraries(analysis: &Analysis) -> Vec<ScopeId> {
    let project = &analysis.project;
    let is_run = |class: &ScopeId| {
        let info = &project.index.classes[class];
        project.bases_of_libraries(*class).next().is_some()
            || info.methods.contains_key(&Name::new("forward"))
            || info.methods.contains_key(&Name::new("__call__"))
    };
    let classes = project.index.classes.keys().filter(|class| is_run(class));
    classes.flat_map(|class| project.index.classes[class].methods.values().copied()).collect()
}

fn methods_or_itself(analysis: &Analysis, target: ScopeId) -> Vec<ScopeId> {
    match analysis.project.index.classes.get(&target) {
        Some(class) => class.methods.values().copied().collect(),
        None => vec![target],
    }
}

/// Functions inside functions: they are passed around more often than not.
fn nested<'a>(analysis: &'a Analysis) -> impl Iterator<Item = ScopeId> + 'a {
    let scopes = &analysis.project.scopes;
    let is_nested = |id: &ScopeId| {
        let parent = scopes.list[*id].parent;
        parent.is_some_and(|parent| matches!(scopes.list[parent].owner, Owner::Function(_)))
    };
    scopes.list.ids().filter(is_nested)
}

fn each_definition(analysis: &Analysis, visit: &mut dyn FnMut(ScopeId, ScopeId, &[Expr])) {
    for (id, scope) in analysis.project.scopes.list.enumerated() {
        walk::statements(scope.body, &mut |stmt| {
            let decorators = match &stmt.kind {
                StmtKind::Function(function) => &function.decorators,
                StmtKind::Class(class) => &class.decorators,
                _ => return,
            };
            if let Some(&target) = analysis.project.scopes.of_statement.get(&stmt.id) {
                visit(id, target, decorators);
            }
        });
    }
}

/// The functions that hold a loop that is followed or memoized, at any distance.
fn holding_loops(analysis: &Analysis, loops: &[LoopPlan]) -> BTreeSet<ScopeId> {
    let scopes = &analysis.project.scopes;
    let mut found: BTreeSet<ScopeId> = BTreeSet::new();
    let wrapped = loops.iter().filter(|entry| entry.is_memoized() || entry.is_followed());
    let mut todo: Vec<ScopeId> = wrapped.map(|entry| scopes.holder(entry.stmt)).collect();
    while let Some(next) = todo.pop() {
        if found.insert(next) {
            todo.extend(analysis.graph.sites_that_call(next).map(|site| site.scope));
        }
    }
    found
}
