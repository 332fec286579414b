//! What each change between two versions means for a replay.

use super::align::{Aligned, align};
use crate::effects::{EffectKind, Extractor, Knowledge};
use crate::plan::{Analysis, Options, Plan};
use crate::scopes::{MODULE, ScopeId};
use crate::source::Source;
use crate::syntax::Module;
use crate::syntax::tree::{ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::{BTreeMap, BTreeSet};

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// An added statement that only looks: a probe.
    Probe,
    /// A removed statement that only looked.
    RemovedLog,
    /// A change outside every memoized loop: it runs again on replay.
    Outside,
    /// A change inside a memoized loop: a checkpoint of that loop is of the old code.
    Inside,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it is.
    pub kind: ChangeKind,
    /// The line in the new version; for removed statements, in the old one.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// Whether the line is one of the old version.
    pub removed: bool,
    /// The first line of its text.
    pub text: String,
    /// The number of the statement in its version.
    pub stmt: usize,
    /// The memoized loops it lies in or is called from, by the old version's ids.
    pub loops: Vec<String>,
    /// What makes it more than a probe.
    pub why: Option<String>,
}

/// Everything a replay must know about two versions of a file.
#[derive(Debug)]
pub struct Report {
    /// The changes, in source order.
    pub changes: Vec<Change>,
    /// The plan of the new version, its loops named as in the old one; loops that the old version lacks are left alone.
    pub plan: Plan,
    /// The new ids of loops that are in both versions.
    pub matched: BTreeMap<String, String>,
    /// Loops, by the old ids, that hold a probe or call a function that does.
    pub probed: BTreeSet<String>,
}

/// Compares two versions of a file.
pub fn compare(old: (&Source, &Module), new: (&Source, &Module), options: &Options) -> Report {
    let aligned = align(old, new);
    let old_analysis = Analysis::new(old.0, old.1);
    let new_analysis = Analysis::new(new.0, new.1);
    let old_plan = old_analysis.plan(options);
    let mut plan = new_analysis.plan(options);
    let matched = match_loops(&aligned, &old_plan, &plan);
    rename(&mut plan, &matched);
    let mut changes = Vec::new();
    let mut reached = BTreeSet::new();
    for stmt in &aligned.added {
        let why = more_than_a_probe(&new_analysis, &old_analysis, stmt);
        let loops = loops_reached(&new_analysis, &plan, stmt);
        reached.extend(loops.iter().cloned());
        let memoized = memoized(&plan, &loops);
        let kind = match (&why, memoized.is_empty()) {
            (None, _) => ChangeKind::Probe,
            (Some(_), true) => ChangeKind::Outside,
            (Some(_), false) => ChangeKind::Inside,
        };
        changes.push(describe(new.0, stmt, kind, memoized, why, false));
    }
    for stmt in &aligned.removed {
        let only_looked = more_than_a_probe(&old_analysis, &new_analysis, stmt).is_none();
        let loops = memoized(&old_plan, &loops_reached(&old_analysis, &old_plan, stmt));
        let kind = match (only_looked, loops.is_empty()) {
            (true, _) => ChangeKind::RemovedLog,
            (false, true) => ChangeKind::Outside,
            (false, false) => ChangeKind::Inside,
        };
        changes.push(describe(old.0, stmt, kind, loops, Some("removed".to_owned()), true));
    }
    for (_, stmt) in &aligned.edited {
        let mut around = loops_reached(&new_analysis, &plan, stmt);
        around.extend(plan.loops.iter().filter(|entry| entry.stmt == stmt.id).map(|entry| entry.id.clone()));
        let loops = memoized(&plan, &around);
        let kind = if loops.is_empty() { ChangeKind::Outside } else { ChangeKind::Inside };
        changes.push(describe(new.0, stmt, kind, loops, Some("edited".to_owned()), false));
    }
    changes.sort_by_key(|change| (change.line, change.removed));
    Report { changes, plan, matched, probed: reached }
}

fn describe(
    source: &Source,
    stmt: &Stmt,
    kind: ChangeKind,
    loops: Vec<String>,
    why: Option<String>,
    removed: bool,
) -> Change {
    let text = source.slice(stmt.range).lines().next().unwrap_or("").trim_end().to_owned();
    let line = source.lines.line(stmt.range.start);
    let end_line = source.lines.line(stmt.range.end);
    Change { kind, line, end_line, removed, text, stmt: stmt.id, loops, why }
}

/// Old ids by new ids, of loops that are in both versions.
fn match_loops(aligned: &Aligned, old: &Plan, new: &Plan) -> BTreeMap<String, String> {
    let pairs = aligned.same.iter().chain(&aligned.edited);
    let by_stmt = |plan: &Plan, stmt: usize| plan.loops.iter().find(|entry| entry.stmt == stmt).map(|e| e.id.clone());
    pairs.filter_map(|(before, after)| Some((by_stmt(new, after.id)?, by_stmt(old, before.id)?))).collect()
}

/// Gives the loops of the new plan their old ids; a loop that is new is not instrumented.
fn rename(plan: &mut Plan, matched: &BTreeMap<String, String>) {
    use crate::plan::Action;
    for entry in &mut plan.loops {
        if let Action::Inside(outer) = &mut entry.action
            && let Some(old) = matched.get(outer)
        {
            outer.clone_from(old);
        }
        match matched.get(&entry.id) {
            Some(old) => entry.id.clone_from(old),
            None => {
                entry.id = format!("new {}", entry.id);
                entry.action = Action::LeftAlone;
                entry.changeset = crate::effects::Changeset::default();
            }
        }
    }
}

fn memoized(plan: &Plan, loops: &BTreeSet<String>) -> Vec<String> {
    plan.loops.iter().filter(|entry| entry.is_memoized() && loops.contains(&entry.id)).map(|e| e.id.clone()).collect()
}

/// What an added statement does besides looking: it rebinds a name the other version has, or changes an object.
fn more_than_a_probe(analysis: &Analysis, other: &Analysis, stmt: &Stmt) -> Option<String> {
    if matches!(stmt.kind, StmtKind::Function(_) | StmtKind::Class(_)) {
        return None;
    }
    let scope = scope_of(analysis, stmt);
    let extractor = Extractor::new(&analysis.project, &analysis.aliases, &analysis.summaries);
    let mut why = None;
    walk::statements(std::slice::from_ref(stmt), &mut |inner| {
        if matches!(inner.kind, StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Raise(_)) {
            let inside_own_loop = matches!(stmt.kind, StmtKind::For(_) | StmtKind::While { .. });
            if !inside_own_loop || matches!(inner.kind, StmtKind::Return(_) | StmtKind::Raise(_)) {
                why.get_or_insert("it changes the flow of control".to_owned());
            }
        }
        if draws(analysis, scope, inner) {
            why.get_or_insert("it draws random numbers: what comes after would draw others".to_owned());
        }
        let mut effects = Vec::new();
        extractor.statement(scope, inner, &mut effects);
        for effect in effects {
            let Some(place) = &effect.place else { continue };
            let is_new = place.home == Some(scope) && !other_binds(analysis, other, scope, &place.root);
            let harmless = match effect.kind {
                EffectKind::Bind => is_new,
                EffectKind::Mutate | EffectKind::Consume => is_new || effect.assumed || looks_only(&effect.why),
                EffectKind::Unbind => is_new,
                _ => true,
            };
            if !harmless {
                why.get_or_insert(effect.why.clone());
            }
        }
    });
    why
}

/// Whether a statement calls a function known to advance a global generator.
fn draws(analysis: &Analysis, scope: ScopeId, stmt: &Stmt) -> bool {
    let mut found = false;
    for expr in walk::own_expressions(stmt) {
        walk::expressions(expr, &mut |part| {
            if let ExprKind::Call(call) = &part.kind {
                let library = analysis.project.library_name(scope, &call.callee);
                let facts = library.and_then(|name| Knowledge::shipped().function(&name));
                found |= facts.is_some_and(|facts| facts.random);
            }
            !found
        });
    }
    found
}

/// Calling a module and clipping by an infinite norm are how people look at activations and gradients.
fn looks_only(why: &str) -> bool {
    why.contains("may change itself") || why.starts_with("torch.nn.utils.clip_grad_norm_")
}

fn other_binds(analysis: &Analysis, other: &Analysis, scope: ScopeId, name: &str) -> bool {
    let qualname = &analysis.project.scopes.list[scope].qualname;
    other.project.scopes.list.iter().any(|known| known.qualname == *qualname && known.bound.contains(name))
}

fn scope_of(analysis: &Analysis, stmt: &Stmt) -> ScopeId {
    let mut found = MODULE;
    for (id, scope) in analysis.project.scopes.list.iter().enumerate() {
        walk::statements(scope.body, &mut |inner| {
            if inner.id == stmt.id {
                found = id;
            }
        });
    }
    found
}

/// The loops that run a statement: those around it, and those that call the function it is in, at any distance.
/// Where it cannot be known who calls the function (a method that PyTorch calls, a hook), every loop.
fn loops_reached(analysis: &Analysis, plan: &Plan, stmt: &Stmt) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut todo = vec![(scope_of(analysis, stmt), stmt.id)];
    let mut seen = BTreeSet::new();
    if registers_hook(stmt) {
        return plan.loops.iter().map(|entry| entry.id.clone()).collect();
    }
    while let Some((scope, id)) = todo.pop() {
        for (entry, planned) in analysis.loops.list.iter().zip(&plan.loops) {
            if entry.scope == scope && contains(entry.stmt, id) {
                reached.insert(planned.id.clone());
            }
        }
        if scope == MODULE || !seen.insert(scope) {
            continue;
        }
        let callers: Vec<_> = analysis.graph.sites.iter().filter(|site| site.targets.contains(&scope)).collect();
        let hidden = analysis.graph.mentioned.contains(&scope) || is_implicit(analysis, scope) || callers.is_empty();
        if hidden {
            return plan.loops.iter().map(|entry| entry.id.clone()).collect();
        }
        todo.extend(callers.into_iter().map(|site| (site.scope, site.stmt)));
    }
    reached
}

fn is_implicit(analysis: &Analysis, scope: ScopeId) -> bool {
    let scopes = &analysis.project.scopes;
    let name = scopes.list[scope].qualname.rsplit('.').next().unwrap_or("");
    let nested = scopes.list[scope].parent.is_some_and(|parent| parent != MODULE && scopes.class_of(scope).is_none());
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

fn contains(outer: &Stmt, id: usize) -> bool {
    let mut found = false;
    walk::statements(std::slice::from_ref(outer), &mut |inner| found |= inner.id == id);
    found && outer.id != id
}
