//! What each change between two versions means for a replay.

use super::align::{Aligned, align};
use super::apart::{Apart, More};
use super::carried::accumulates;
use super::classify::more_than_a_probe;
use super::reach::{Reach, reach};
use super::unbound::unbound;
use super::unused::take_into_use;
use crate::analysis::Analysis;
use crate::calls::functions_named;
use crate::ids::StmtId;
use crate::name::Name;
use crate::plan::{LoopPlan, Options, Plan, Recorded};
use crate::scopes::ScopeId;
use crate::source::Source;
use crate::syntax::File;
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

impl ChangeKind {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::RemovedLog => "removed log",
            Self::Outside => "outside",
            Self::Inside => "inside",
        }
    }
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
    pub stmt: StmtId,
    /// The memoized loops it lies in or is called from, by the old version's ids.
    pub loops: Vec<String>,
    /// What makes it more than a probe.
    pub why: Option<Apart>,
    /// Whether all that it does besides looking can be seen when it runs.
    pub can_be_seen: bool,
    /// Names that an added statement reads and nothing binds.
    pub unbound: Vec<String>,
}

impl Change {
    /// Whether it is a statement that only the new version has.
    pub fn is_added(&self) -> bool {
        !self.removed && self.why != Some(Apart::Edited)
    }
}

/// Everything a replay must know about two versions of a file.
#[derive(Debug)]
pub struct Report {
    /// The file's name as a module.
    pub name: String,
    /// The changes, in source order.
    pub changes: Vec<Change>,
    /// The plan of the new version, its loops named as in the old one; loops that the old version lacks are left alone.
    pub plan: Plan,
    /// The new ids of loops that are in both versions.
    pub matched: BTreeMap<String, String>,
    /// Loops, of this file and of others, by the old ids, that hold a probe of this file or call a function that does, and
    /// why that is known: "holds an added statement".
    pub probed: BTreeMap<String, String>,
    /// Functions, each known by what entered it when the old version ran, that run a probe of this file: what entered them runs it.
    pub entered: BTreeSet<Function>,
    /// Why code outside the project may run one of its probes, other than by these functions; None where it does not.
    pub anywhere: Option<String>,
    /// Whether its probes keep something of their own from one iteration for another.
    pub accumulates: bool,
}

/// A function of the old version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Function {
    /// The name of its file, as its source has it.
    pub file: String,
    /// Its first line, decorators included.
    pub line: usize,
    /// Its qualified name.
    pub name: String,
}

/// Compares two versions of a project; one report per file of the new version, in order. `noted`: functions of which it is known by
/// what they were entered when the old version ran; that counts only where nothing but log statements was added or removed.
pub fn compare(old: &[File], new: &[File], options: &Options, noted: &BTreeSet<Function>) -> Vec<Report> {
    let (before, after) = (Analysis::new(old), Analysis::new(new));
    let pairs: Vec<Option<usize>> =
        new.iter().map(|file| old.iter().position(|known| known.name == file.name)).collect();
    let mut aligned: Vec<Aligned> =
        pairs.iter().zip(new).map(|(pair, file)| pair.map(|at| align(&old[at], file)).unwrap_or_default()).collect();
    take_into_use(&mut aligned, old, new);
    let old_plans = before.plans(options);
    let recorded = recorded(&aligned, &pairs, &old_plans);
    let mut plans = after.plans_as(options, &recorded);
    let matched: Vec<BTreeMap<String, String>> = plans
        .iter_mut()
        .map(|plan| {
            let matched = match_loops(&recorded, plan);
            rename(plan, &matched);
            matched
        })
        .collect();
    let known = known(&before, &after, &aligned, noted);
    let mut comparison = Comparison { before, after, old_plans, plans, known };
    let changes = |comparison: &Comparison| -> Vec<Found> {
        let old_source = |at: usize| pairs[at].map_or(&new[at].source, |pair| &old[pair].source);
        let each = aligned.iter().enumerate();
        each.map(|(at, aligned)| comparison.changes(aligned, old_source(at), &new[at].source)).collect()
    };
    let mut found = changes(&comparison);
    let only_logs = |change: &Change| matches!(change.kind, ChangeKind::Probe | ChangeKind::RemovedLog);
    if !comparison.known.is_empty() && !found.iter().all(|file| file.changes.iter().all(only_logs)) {
        comparison.known.clear();
        found = changes(&comparison);
    }
    let files = new.iter().zip(comparison.plans).zip(matched).zip(found);
    files
        .map(|(((file, plan), matched), found)| Report {
            name: file.name.clone(),
            changes: found.changes,
            plan,
            matched,
            probed: found.probed,
            entered: found.entered,
            anywhere: found.anywhere,
            accumulates: found.accumulates,
        })
        .collect()
}

/// The loops that are in both versions: what was added decides nothing about them.
fn recorded<'p>(aligned: &[Aligned], pairs: &[Option<usize>], plans: &'p [Plan]) -> Recorded<'p> {
    let mut found = Recorded::new();
    for (aligned, pair) in aligned.iter().zip(pairs) {
        let Some(plan) = pair.map(|at| &plans[at]) else { continue };
        let both = aligned.same.iter().chain(&aligned.edited);
        let today: BTreeMap<StmtId, StmtId> = both.map(|(before, after)| (before.id, after.id)).collect();
        found.extend(plan.loops.iter().filter_map(|entry| Some((*today.get(&entry.stmt)?, entry))));
    }
    found
}

/// Two versions of a project, analysed.
struct Comparison<'o, 'n> {
    before: Analysis<'o>,
    after: Analysis<'n>,
    old_plans: Vec<Plan>,
    /// Of the new version, with the old ids.
    plans: Vec<Plan>,
    /// Functions of the new version of which it is known by what their old versions were entered.
    known: BTreeMap<ScopeId, Function>,
}

/// What is found of one file.
#[derive(Default)]
struct Found {
    changes: Vec<Change>,
    probed: BTreeMap<String, String>,
    entered: BTreeSet<Function>,
    anywhere: Option<String>,
    accumulates: bool,
}

/// The functions of the new version that are those that were noted. Not those that an added statement passes on: what it gives
/// them to may run them anywhere.
fn known(
    before: &Analysis,
    after: &Analysis,
    aligned: &[Aligned],
    noted: &BTreeSet<Function>,
) -> BTreeMap<ScopeId, Function> {
    let mut found = BTreeMap::new();
    if noted.is_empty() {
        return found;
    }
    let (passed, passed_names) = passed_on(after, aligned);
    for (old, new) in aligned.iter().flat_map(|aligned| &aligned.same) {
        let StmtKind::Function(function) = &new.kind else { continue };
        let scopes = (before.project.scopes.of_statement.get(&old.id), after.project.scopes.of_statement.get(&new.id));
        let (Some(&old_scope), Some(&scope)) = scopes else { continue };
        let known = &before.project.scopes.list[old_scope];
        let source = &before.files[known.file].source;
        let line = source.lines.line(old.range.start);
        let was = Function { file: source.name.clone(), line, name: known.qualname.to_string() };
        if noted.contains(&was) && !passed.contains(&scope) && !passed_names.contains(&function.name) {
            found.insert(scope, was);
        }
    }
    found
}

/// The functions that added statements mention other than by calling them, and the names of attributes that may be some.
fn passed_on(after: &Analysis, aligned: &[Aligned]) -> (BTreeSet<ScopeId>, BTreeSet<Name>) {
    let (mut found, mut names) = (BTreeSet::new(), BTreeSet::new());
    for stmt in aligned.iter().flat_map(|aligned| &aligned.added) {
        walk::all_of(stmt, &mut |inner| {
            let scope = after.project.scopes.holder(inner.id);
            let mut called = BTreeSet::new();
            for expr in walk::own_expressions(inner) {
                walk::expressions(expr, &mut |part| {
                    match &part.kind {
                        ExprKind::Call(call) => {
                            called.insert(call.callee.range.start);
                        }
                        ExprKind::Name(_) if !called.contains(&part.range.start) => {
                            found.extend(functions_named(&after.project, scope, part));
                        }
                        ExprKind::Attribute { attr, .. } if !called.contains(&part.range.start) => {
                            names.insert(*attr);
                        }
                        _ => {}
                    }
                    true
                });
            }
        });
    }
    (found, names)
}

impl Comparison<'_, '_> {
    /// The changes of a file, and what runs its probes.
    fn changes(&self, aligned: &Aligned, old: &Source, new: &Source) -> Found {
        let mut changes = Vec::new();
        let (mut probed, mut entered) = (BTreeMap::new(), BTreeSet::new());
        let mut anywhere = None;
        let numbers = |stmts: &[&Stmt]| stmts.iter().map(|stmt| stmt.id).collect::<BTreeSet<StmtId>>();
        let (added, removed) = (numbers(&aligned.added), numbers(&aligned.removed));
        let (mut flows, mut old_flows) = (BTreeMap::new(), BTreeMap::new());
        let known: BTreeSet<ScopeId> = self.known.keys().copied().collect();
        let mut probes = Vec::new();
        let of_old = |stmt: &Stmt| reach(&self.before, &self.old_plans, stmt, &BTreeSet::new());
        for stmt in &aligned.added {
            let why = more_than_a_probe(&self.after, &self.before, stmt, &added, &mut flows);
            let Reach { loops, functions, anywhere: why_there } = reach(&self.after, &self.plans, stmt, &known);
            anywhere = anywhere.or(why_there);
            let memoized = memoized(&self.plans, &loops);
            probed.extend(loops);
            entered.extend(functions.iter().map(|function| self.known[function].clone()));
            let kind = match (&why, memoized.is_empty()) {
                (None, _) => ChangeKind::Probe,
                (Some(_), true) => ChangeKind::Outside,
                (Some(_), false) => ChangeKind::Inside,
            };
            probes.extend((kind == ChangeKind::Probe).then_some(*stmt));
            changes.push(Change {
                unbound: unbound(&self.after, stmt),
                ..describe(new, stmt, kind, memoized, why, false)
            });
        }
        for stmt in &aligned.removed {
            let only_looked = more_than_a_probe(&self.before, &self.after, stmt, &removed, &mut old_flows).is_none();
            let found = of_old(stmt);
            anywhere = anywhere.or(found.anywhere.filter(|_| !only_looked));
            let loops = memoized(&self.old_plans, &found.loops);
            let kind = match (only_looked, loops.is_empty()) {
                (true, _) => ChangeKind::RemovedLog,
                (false, true) => ChangeKind::Outside,
                (false, false) => ChangeKind::Inside,
            };
            changes.push(describe(old, stmt, kind, loops, otherwise(Apart::Removed), true));
        }
        for (_, stmt) in &aligned.edited {
            let found = reach(&self.after, &self.plans, stmt, &BTreeSet::new());
            anywhere = anywhere.or(found.anywhere);
            let mut around = found.loops;
            let own = |plan: &Plan| plan.loops.iter().find(|entry| entry.stmt == stmt.id).map(|entry| entry.id.clone());
            around.extend(self.plans.iter().find_map(own).map(|id| (id, "edited".to_owned())));
            let loops = memoized(&self.plans, &around);
            let kind = if loops.is_empty() { ChangeKind::Outside } else { ChangeKind::Inside };
            changes.push(describe(new, stmt, kind, loops, otherwise(Apart::Edited), false));
        }
        changes.sort_by_key(|change| (change.line, change.removed));
        Found { changes, probed, entered, anywhere, accumulates: accumulates(&self.after, &probes) }
    }
}

fn describe(
    source: &Source,
    stmt: &Stmt,
    kind: ChangeKind,
    loops: Vec<String>,
    more: Option<More>,
    removed: bool,
) -> Change {
    let text = source.slice(stmt.range).lines().next().unwrap_or("").trim_end().to_owned();
    let line = source.lines.line(stmt.range.start);
    let end_line = source.lines.line(stmt.range.end);
    let can_be_seen = more.as_ref().is_none_or(|more| more.can_be_seen);
    let why = more.map(|more| more.why);
    Change { kind, line, end_line, removed, text, stmt: stmt.id, loops, why, can_be_seen, unbound: Vec::new() }
}

fn otherwise(why: Apart) -> Option<More> {
    Some(More { why, can_be_seen: false })
}

/// Old ids by new ids, of loops that are in both versions.
fn match_loops(recorded: &Recorded, new: &Plan) -> BTreeMap<String, String> {
    let pair = |entry: &LoopPlan| Some((entry.id.clone(), recorded.get(&entry.stmt)?.id.clone()));
    new.loops.iter().filter_map(pair).collect()
}

/// Gives the loops of the new plan their old ids; a loop that is new is not instrumented.
fn rename(plan: &mut Plan, matched: &BTreeMap<String, String>) {
    use crate::plan::Action;
    for entry in &mut plan.loops {
        if let Action::Inside(outer) | Action::Reserve(outer) = &mut entry.action
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

fn memoized(plans: &[Plan], loops: &BTreeMap<String, String>) -> Vec<String> {
    plans
        .iter()
        .flat_map(|plan| &plan.loops)
        .filter(|entry| entry.is_memoized() && loops.contains_key(&entry.id))
        .map(|e| e.id.clone())
        .collect()
}
