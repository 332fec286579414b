//! Which loops are followed, which are memoized, which are left alone.
//!
//! A loop at the top that holds loops with work in them is followed, iteration by iteration. Below it, loops with work are
//! memoized; those that take training steps, or hold a loop that does (epochs inside folds), are followed, too. Loops
//! inside a memoized loop are skipped with it, unless the loop around only steps a schedule
//! ([`Work::steps_itself`](super::work::Work::steps_itself)); those with work are in reserve. Called functions count as if their loops stood at the call.

use super::model::{Action, Recorded};
use super::speaks::speaks;
use super::work::Facts;
use crate::analysis::Analysis;
use crate::effects::{Obstacle, Reason};
use crate::ids::{IdVec, StmtId};
use crate::knowledge::{Knowledge, List};
use crate::loops::{Loop, LoopId};
use crate::scopes::{Owner, ScopeId};
use crate::syntax::tree::{ExprKind, Function};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    MainLoop,
    SkipBlock,
    Both,
    Inside(LoopId),
    Reserve(LoopId),
    LeftAlone,
}

#[derive(Clone, Debug)]
pub(super) struct Decision {
    pub action: Role,
    pub note: Option<Obstacle>,
}

/// Where code runs: outside every loop, inside followed loops only, or inside a memoized one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Context {
    Top,
    Followed,
    /// Inside this memoized loop; `None` when florc cannot see who calls the code.
    Memoized(Option<LoopId>),
}

pub(super) fn roles(
    analysis: &Analysis,
    facts: &Facts,
    obstacles: &IdVec<LoopId, Option<Obstacle>>,
) -> IdVec<LoopId, Decision> {
    let mut selection = Selection { analysis, facts, obstacles, contexts: initial_contexts(analysis, facts) };
    // A context only moves up (towards `Top`) as callers are found; there are three, so this ends.
    while selection.round() {}
    let contexts: Vec<Context> =
        selection.contexts.iter().map(|context| context.unwrap_or(Context::Memoized(None))).collect();
    selection.contexts = contexts.into_iter().map(Some).collect();
    let mut decisions = selection.decisions();
    selection.reserve(&mut decisions);
    let is_cheap = |decision: &Decision| {
        decision.action == Role::LeftAlone && matches!(decision.note, Some(Obstacle { why: Reason::Cheap, .. }))
    };
    for (decision, entry) in decisions.iter_mut().zip(&analysis.loops.list) {
        let speaks = !entry.is_call() && entry.ways_out.suspends.is_none() && speaks(entry.stmt);
        if speaks && decision.action == Role::SkipBlock {
            decision.action = Role::Both;
        } else if speaks && is_cheap(decision) {
            *decision = Decision { action: Role::MainLoop, note: None };
        }
    }
    // and those around them: inner loops come later
    let inner: Vec<LoopId> = decisions.ids().rev().collect();
    for at in inner {
        let parent = analysis.loops.list[at].parent.filter(|outer| is_cheap(&decisions[*outer]));
        if let (Role::MainLoop | Role::Both, Some(outer)) = (&decisions[at].action, parent)
            && analysis.loops.list[outer].ways_out.suspends.is_none()
        {
            decisions[outer] = Decision { action: Role::MainLoop, note: None };
        }
    }
    decisions
}

/// The roles that loops had when they were recorded: one that cannot be skipped any more runs again.
pub(super) fn recorded_roles(
    analysis: &Analysis,
    recorded: &Recorded,
    obstacles: &IdVec<LoopId, Option<Obstacle>>,
) -> IdVec<LoopId, Decision> {
    let loops = &analysis.loops.list;
    let by_id: BTreeMap<&str, LoopId> =
        loops.enumerated().filter_map(|(at, entry)| Some((recorded.get(&entry.stmt.id)?.id.as_str(), at))).collect();
    let decide = |(entry, obstacle): (&Loop, &Option<Obstacle>)| {
        let Some(was) = recorded.get(&entry.stmt.id) else { return Decision { action: Role::LeftAlone, note: None } };
        let action = match (&was.action, obstacle) {
            (Action::MainLoop, _) | (Action::Both, Some(_)) => Role::MainLoop,
            (Action::Both, None) => Role::Both,
            (Action::SkipBlock, None) => Role::SkipBlock,
            (Action::Inside(outer), _) => by_id.get(outer.as_str()).map_or(Role::LeftAlone, |&at| Role::Inside(at)),
            (Action::Reserve(outer), None) => {
                by_id.get(outer.as_str()).map_or(Role::LeftAlone, |&at| Role::Reserve(at))
            }
            (Action::LeftAlone, _) | (Action::SkipBlock | Action::Reserve(_), Some(_)) => Role::LeftAlone,
        };
        Decision { action, note: obstacle.clone().or_else(|| was.note.clone()) }
    };
    loops.iter().zip(obstacles).map(decide).collect()
}

struct Selection<'a, 't> {
    analysis: &'a Analysis<'t>,
    facts: &'a Facts,
    obstacles: &'a IdVec<LoopId, Option<Obstacle>>,
    contexts: IdVec<ScopeId, Option<Context>>,
}

impl Selection<'_, '_> {
    fn round(&mut self) -> bool {
        let decisions = self.decisions();
        // All of a round sees what the round before found: a decision made before its function's caller was known must
        // not reach further.
        let mut found = self.contexts.clone();
        for site in &self.analysis.graph.sites {
            let Some(from) = self.context_of_site(site.scope, site.stmt, &decisions) else { continue };
            for &target in &site.targets {
                if is_compiled(self.analysis, target) || is_hidden(self.analysis, self.facts, target) {
                    continue;
                }
                let slot = &mut found[target];
                if slot.is_none_or(|known| rank(from) < rank(known)) {
                    *slot = Some(from);
                }
            }
        }
        let changed = found != self.contexts;
        self.contexts = found;
        changed
    }

    fn context_of_site(&self, scope: ScopeId, stmt: StmtId, decisions: &IdVec<LoopId, Decision>) -> Option<Context> {
        let loops = &self.analysis.loops;
        let is_passed_by = |at: &LoopId| loops.list[*at].is_call() && decisions[*at].action == Role::LeftAlone;
        let around = loops.around(stmt);
        let around = around.filter(is_passed_by).map_or(around, |call| loops.list[call].parent);
        let Some(at) = around else { return self.contexts[scope] };
        Some(match decisions[at].action {
            Role::SkipBlock => Context::Memoized(Some(at)),
            Role::Inside(outer) | Role::Reserve(outer) => Context::Memoized(Some(outer)),
            // A loop that both trains and is followed has no memoized loop inside it.
            Role::Both if self.facts.loops[at].steps_itself() => Context::Memoized(Some(at)),
            Role::MainLoop | Role::Both | Role::LeftAlone => match self.contexts[scope]? {
                Context::Memoized(outer) => Context::Memoized(outer),
                _ => Context::Followed,
            },
        })
    }

    fn decisions(&self) -> IdVec<LoopId, Decision> {
        let mut decisions: IdVec<LoopId, Decision> = IdVec::default();
        for (at, entry) in self.analysis.loops.list.enumerated() {
            let context = match entry.parent {
                None => self.contexts[entry.scope].unwrap_or(Context::Memoized(None)),
                Some(parent) => match decisions[parent].action {
                    Role::SkipBlock => Context::Memoized(Some(parent)),
                    Role::Inside(outer) | Role::Reserve(outer) => Context::Memoized(Some(outer)),
                    Role::Both if self.facts.loops[parent].steps_itself() => Context::Memoized(Some(parent)),
                    Role::LeftAlone => match self.contexts[entry.scope] {
                        Some(Context::Memoized(outer)) => Context::Memoized(outer),
                        None => Context::Memoized(None),
                        _ => Context::Followed,
                    },
                    Role::MainLoop | Role::Both => Context::Followed,
                },
            };
            decisions.push(self.decide(at, context));
        }
        decisions
    }

    /// Loops with work in a memoized one of the same function wait in reserve: should that one turn out not to be
    /// restorable while it is recorded, they are memoized in its place.
    fn reserve(&self, decisions: &mut IdVec<LoopId, Decision>) {
        for (at, entry) in self.analysis.loops.list.enumerated() {
            if let Role::Inside(outer) = decisions[at].action
                && entry.parent == Some(outer)
                && decisions[outer].action == Role::SkipBlock
                && self.facts.loops[at].works
                && self.obstacles[at].is_none()
                && entry.ways_out.suspends.is_none()
                && !entry.is_call()
                && !self.is_deep(at)
            {
                decisions[at].action = Role::Reserve(outer);
            }
        }
    }

    /// Whether a loop stands inside so many others that none of them would be skipped with it.
    fn is_deep(&self, at: LoopId) -> bool {
        self.analysis.loops.and_around(at).count() > MAX_DEPTH + 1
    }

    fn decide(&self, at: LoopId, context: Context) -> Decision {
        let entry = &self.analysis.loops.list[at];
        let work = self.facts.loops[at];
        let obstacle = self.obstacles[at].clone();
        let alone =
            |why: Reason| Decision { action: Role::LeftAlone, note: Some(Obstacle { range: entry.stmt.range, why }) };
        if entry.ways_out.suspends.is_some() {
            return Decision { action: Role::LeftAlone, note: obstacle };
        }
        match context {
            Context::Memoized(Some(outer)) => Decision { action: Role::Inside(outer), note: None },
            Context::Memoized(None) => alone(Reason::Unfollowed),
            _ if !work.works && !work.loops_below => alone(Reason::Cheap),
            _ if entry.is_call() => match obstacle {
                _ if self.is_deep(at) => alone(Reason::TooDeep),
                _ if work.loops_below => alone(Reason::LoopsOfOwn),
                Some(note) => Decision { action: Role::LeftAlone, note: Some(note) },
                None => Decision { action: Role::SkipBlock, note: None },
            },
            _ if self.is_deep(at) && !work.trains && !work.trains_below => alone(Reason::TooDeep),
            Context::Top if work.loops_below => Decision { action: Role::MainLoop, note: None },
            _ => {
                let followed = work.steps_itself() || context == Context::Followed && work.trains_below;
                match (obstacle, followed) {
                    (None, true) => Decision { action: Role::Both, note: None },
                    (None, false) => Decision { action: Role::SkipBlock, note: None },
                    (note, true) if context == Context::Top || !work.steps_itself() => {
                        Decision { action: Role::MainLoop, note }
                    }
                    (note, _) => Decision { action: Role::LeftAlone, note },
                }
            }
        }
    }
}

/// A loop inside more loops than this is entered too often to be followed, unless it trains.
const MAX_DEPTH: usize = 2;

fn rank(context: Context) -> u8 {
    match context {
        Context::Top => 0,
        Context::Followed => 1,
        Context::Memoized(_) => 2,
    }
}

fn initial_contexts(analysis: &Analysis, facts: &Facts) -> IdVec<ScopeId, Option<Context>> {
    let scopes = &analysis.project.scopes.list;
    let mut called = IdVec::all(false, scopes);
    analysis.graph.sites.iter().flat_map(|site| &site.targets).for_each(|&target| called[target] = true);
    scopes
        .ids()
        .map(|id| {
            if analysis.project.scopes.is_module(id) {
                return Some(Context::Top);
            }
            if !matches!(scopes[id].owner, Owner::Function(_)) {
                return Some(Context::Memoized(None));
            }
            if called[id] && !is_hidden(analysis, facts, id) {
                return None;
            }
            let trains = facts.scopes[id].trains_below;
            let mentioned = analysis.graph.mentioned.contains(&id);
            let hidden = is_compiled(analysis, id) || is_hidden(analysis, facts, id) || (mentioned && !trains);
            // Nobody in sight calls it: somebody else does, and may do so in a loop.
            Some(if hidden { Context::Memoized(None) } else { Context::Followed })
        })
        .collect()
}

/// Methods that Python or PyTorch calls on its own, once per item or per call of an object: their loops run as often as
/// a batch has parts. A `__call__` that takes training steps is no such one: its object is handed over as a function is
/// (`mp.spawn(Trainer(), …)`).
fn is_hidden(analysis: &Analysis, facts: &Facts, id: ScopeId) -> bool {
    let Owner::Function(Function { name, .. }) = analysis.project.scopes.list[id].owner else { return false };
    let is_special = name.starts_with("__") && name.ends_with("__") && name != "__init__";
    let is_special = is_special && !(name == "__call__" && facts.scopes[id].trains_below);
    is_special || Knowledge::shipped().lists(List::IsCalledOften, name)
}

/// Functions handed to a compiler (`torch.compile`, `torch.jit.script`, `numba.jit`): calls inside them must stay as they are.
fn is_compiled(analysis: &Analysis, id: ScopeId) -> bool {
    let Owner::Function(function) = analysis.project.scopes.list[id].owner else { return false };
    function.decorators.iter().any(|decorator| {
        let callee = match &decorator.kind {
            ExprKind::Call(call) => &call.callee,
            _ => decorator,
        };
        let name = match &callee.kind {
            ExprKind::Name(name) => name.as_str(),
            ExprKind::Attribute { attr, .. } => attr.as_str(),
            _ => "",
        };
        Knowledge::shipped().lists(List::Compiles, name)
    })
}
