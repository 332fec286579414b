//! Which loops a statement runs in, at any distance.

use super::lookup::is_looked_up;
use crate::analysis::Analysis;
use crate::ids::{Id, IdVec, StmtId};
use crate::knowledge::{Knowledge, List};
use crate::loops::LoopId;
use crate::plan::{LoopPlan, Plan};
use crate::scopes::ScopeId;
use crate::syntax::tree::{ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::{BTreeMap, BTreeSet};

/// What runs a statement.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// Loops that may run it in any of their executions, and why.
    pub loops: BTreeMap<String, String>,
    /// Functions of which the recorded run knows what entered them: loops that did run it, too. Scopes.
    pub functions: BTreeSet<ScopeId>,
    /// Why code that is not in sight may run it, too; None where all that runs it is known.
    pub anywhere: Option<String>,
}

/// What runs a statement: the loops around it, and those that call the function it is in, at any distance, up to functions of
/// which it is `known` by what they were entered. Where nothing is known of who calls a function (a method that PyTorch calls,
/// a hook), every loop.
pub(super) fn reach(analysis: &Analysis, plans: &[Plan], stmt: &Stmt, known: &BTreeSet<ScopeId>) -> Reach {
    let holder = analysis.project.scopes.holder(stmt.id);
    let name = &analysis.project.scopes.list[holder].qualname;
    if registers_hook(stmt) {
        return every(plans, "it registers a hook, and nothing tells who calls that");
    }
    let by_loop = by_loop(plans);
    let mut found = Reach::default();
    let mut seen = BTreeSet::new();
    let mut todo = vec![(holder, stmt.id)];
    while let Some((scope, id)) = todo.pop() {
        let why = if id == stmt.id {
            "holds an added statement".to_owned()
        } else {
            format!("calls {name}, which holds an added statement")
        };
        for around in loops_around(analysis, &by_loop, id) {
            found.loops.entry(around).or_insert_with(|| why.clone());
        }
        if analysis.project.scopes.is_module(scope) || !seen.insert(scope) {
            continue;
        }
        if known.contains(&scope) {
            found.functions.insert(scope);
            continue;
        }
        let Some(callers) = callers(analysis, scope) else {
            let open = &analysis.project.scopes.list[scope].qualname;
            return every(
                plans,
                &format!("may run {name}, which holds an added statement: nothing tells who calls {open}"),
            );
        };
        todo.extend(callers);
    }
    found
}

/// Every loop whose executions may enter a function, as the call graph has it; None where it does not know.
pub fn loops_that_enter(analysis: &Analysis, plans: &[Plan], function: ScopeId) -> Option<BTreeSet<String>> {
    let by_loop = by_loop(plans);
    let mut found = BTreeSet::new();
    let (mut seen, mut todo) = (BTreeSet::new(), vec![function]);
    while let Some(scope) = todo.pop() {
        if analysis.project.scopes.is_module(scope) || !seen.insert(scope) {
            continue;
        }
        for (caller, stmt) in callers(analysis, scope)? {
            found.extend(loops_around(analysis, &by_loop, stmt));
            todo.push(caller);
        }
    }
    Some(found)
}

fn every(plans: &[Plan], why: &str) -> Reach {
    let all = plans.iter().flat_map(|plan| &plan.loops).map(|entry| (entry.id.clone(), why.to_owned()));
    Reach { loops: all.collect(), functions: BTreeSet::new(), anywhere: Some(why.to_owned()) }
}

/// The plans of a project's loops.
fn by_loop(plans: &[Plan]) -> IdVec<LoopId, &LoopPlan> {
    plans.iter().flat_map(|plan| &plan.loops).collect()
}

/// The loops around a statement in its function. What a loop's header calls runs in the loop: a generator all the while, a
/// condition in every iteration.
fn loops_around(analysis: &Analysis, plans: &IdVec<LoopId, &LoopPlan>, stmt: StmtId) -> Vec<String> {
    let innermost = analysis.loops.of(stmt).or_else(|| analysis.loops.around(stmt));
    let around = innermost.into_iter().flat_map(|at| analysis.loops.and_around(at));
    around.filter_map(|at| plans.get(at)).map(|entry| entry.id.clone()).collect()
}

/// Where a function is called: scopes and the numbers of statements. None where other callers are possible. A file may be several
/// modules (the script, which another file imports): a function of it is one statement, whichever of them calls it.
fn callers(analysis: &Analysis, scope: ScopeId) -> Option<Vec<(ScopeId, StmtId)>> {
    let mut found = Vec::new();
    for twin in twins(analysis, scope) {
        found.extend(callers_of(analysis, twin)?);
    }
    Some(found)
}

/// A scope, and the same one of the other modules that its file is: their scopes are numbered in the same order.
fn twins(analysis: &Analysis, scope: ScopeId) -> Vec<ScopeId> {
    let scopes = &analysis.project.scopes;
    let file = scopes.list[scope].file;
    let offset = scope.place() - scopes.modules[file].place();
    let (path, text) = (&analysis.files[file].source.name, &analysis.files[file].source.text);
    let modules = scopes.modules.enumerated();
    let same = modules.filter(|(other, _)| {
        let source = &analysis.files[*other].source;
        source.name == *path && source.text == *text
    });
    same.map(|(_, module)| ScopeId::new(module.place() + offset)).collect()
}

fn callers_of(analysis: &Analysis, scope: ScopeId) -> Option<Vec<(ScopeId, StmtId)>> {
    let sites: Vec<_> = analysis.graph.sites_that_call(scope).collect();
    let hidden = analysis.graph.mentioned.contains(&scope)
        || analysis.graph.constructors.contains(&scope)
        || is_implicit(analysis, scope)
        || analysis.project.scopes.class_of(scope).is_some_and(|class| is_run_by_library(analysis, class, scope))
        || sites.is_empty()
        || sites.iter().any(|site| site.deferred)
        || is_looked_up(analysis, scope)
        || (is_generator(analysis, scope) && !sites.iter().all(|site| advances(analysis, site.stmt)));
    (!hidden).then(|| sites.into_iter().map(|site| (site.scope, site.stmt)).collect())
}

fn is_run_by_library(analysis: &Analysis, class: ScopeId, method: ScopeId) -> bool {
    let name = analysis.project.scopes.list[method].qualname.rsplit('.').next().unwrap_or("");
    Knowledge::shipped().lists(List::IsRunOfAnyObject, name) || analysis.project.is_run_by_library(class)
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
                    found |= crate::emit::registers_hook(attr.as_str());
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
fn advances(analysis: &Analysis, id: StmtId) -> bool {
    matches!(analysis.project.scopes.statement(id).kind, StmtKind::For(_) | StmtKind::With { .. })
}
