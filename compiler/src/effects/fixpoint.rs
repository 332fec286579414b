//! The summaries of all functions of a project, callees before callers, each recursive group to its fixpoint.

use super::alias::{Aliases, spread};
use super::extract::Extractor;
use super::made::{Asked, Made};
use super::met::Met;
use super::place::Place;
use super::reason::Reason;
use super::summary::{Summaries, Summary};
use super::{Effect, EffectKind};
use crate::calls::CallGraph;
use crate::ids::IdVec;
use crate::name::Name;
use crate::project::Project;
use crate::scopes::{Owner, ScopeId};
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// A function with more effects than this is one that cannot be followed; real ones stay far below.
const MAX_EFFECTS: usize = 150;
/// A group of functions that call each other is gone through at most this often.
const MAX_ROUNDS: usize = 30;
/// Where functions that are handed over change more than this, nothing is said of who calls them: every call of a large
/// project would change everything. The run itself tells (see `survey/survey.py`).
const MAX_HANDLER_EFFECTS: usize = 40;
/// Handlers that run handlers are followed this far.
const MAX_HANDLER_ROUNDS: usize = 3;

impl Summaries {
    /// Computes the summaries of a project.
    pub fn new(project: &Project, graph: &CallGraph, aliases: &Aliases) -> Self {
        let groups = graph.bottom_up(project.scopes.list.len());
        let mut all = Self { list: IdVec::all(None, &project.scopes.list), handlers: Vec::new() };
        let mut made = Made::new(project.scopes.list.len());
        let met = RefCell::default();
        // What handlers do is part of what functions that call nobody knows what do, which may be handlers themselves.
        for _ in 0..MAX_HANDLER_ROUNDS {
            for group in &groups {
                all.settle(project, graph, aliases, group, (&mut made, &met));
            }
            let handlers = all.outer_effects(&graph.mentioned);
            if handlers.len() == all.handlers.len() || handlers.len() > MAX_HANDLER_EFFECTS {
                break;
            }
            all.handlers = handlers;
            made.handlers += 1;
        }
        all
    }

    /// Computes the summaries of functions that call each other.
    fn settle(
        &mut self,
        project: &Project,
        graph: &CallGraph,
        aliases: &Aliases,
        group: &[ScopeId],
        (made, met): (&mut Made, &RefCell<Met>),
    ) {
        if group.iter().all(|&id| made.is_current(id)) {
            return;
        }
        let callers = graph.callers_within(group);
        let mut todo: BTreeSet<ScopeId> = group.iter().copied().collect();
        // Effects only grow, and there are finitely many places: a group settles within a few rounds. The bound covers
        // attribute chains that grow along a recursion.
        let members: BTreeSet<ScopeId> = todo.clone();
        for round in 0..MAX_ROUNDS {
            if todo.is_empty() {
                return;
            }
            // Each of the group does what all of them do: when that is too much, it shows after the first round.
            if round == 1 && self.outer_effects(&members).len() > MAX_EFFECTS {
                break;
            }
            for id in std::mem::take(&mut todo) {
                if made.is_current(id) {
                    continue;
                }
                let (new, asked) = self.compute(project, aliases, id, met);
                let is_new = self.list[id] != new;
                made.note(id, &asked, is_new);
                if is_new {
                    self.list[id] = new;
                    todo.extend(callers.get(&id).into_iter().flatten());
                }
            }
        }
        let met = &mut *met.borrow_mut();
        for &id in group {
            self.list[id] = self.list[id].as_ref().map(|_| Summary::unknown(project, id, met));
            made.replaced(id);
        }
    }

    /// What functions do to others than their arguments, each effect once.
    fn outer_effects(&self, functions: &BTreeSet<ScopeId>) -> Vec<Effect> {
        let mut known: FxHashSet<(EffectKind, Option<Place>)> = FxHashSet::default();
        let mut found = Vec::new();
        for &id in functions {
            let effects = self.get(id).map_or(&[][..], |summary| &summary.effects);
            for effect in effects.iter().filter(|effect| effect.place.as_ref().is_some_and(|at| at.home != Some(id))) {
                if known.insert((effect.kind, effect.place)) {
                    found.push(effect.clone());
                }
            }
        }
        found
    }

    /// The summary of a function by what is known now, and what it was made from.
    fn compute(
        &self,
        project: &Project,
        aliases: &Aliases,
        id: ScopeId,
        met: &RefCell<Met>,
    ) -> (Option<Summary>, Asked) {
        let scope = &project.scopes.list[id];
        if !matches!(scope.owner, Owner::Function(_)) {
            return (None, Asked::default());
        }
        met.borrow_mut().begin();
        let extractor = Extractor::terse(project, aliases, self, met);
        let said = extractor.suite(id, scope.body);
        let met = &mut *met.borrow_mut();
        let mut asked = std::mem::take(&mut met.asked);
        asked.functions.sort_unstable();
        asked.functions.dedup();
        let params: Vec<Name> = scope.params().collect();
        let mut effects: Vec<Effect> = Vec::new();
        for effect in said {
            let number = met.number(effect.kind, effect.place);
            if !met.said.insert(number) {
                continue;
            }
            // A parameter that is assigned (`m = m or default`) may stand for something else, too.
            // A name that no scope binds may belong to a comprehension or a lambda.
            let own = |place: &Place| place.home == Some(id) || place.home.is_none();
            spread(aliases, effect, &own, &mut |effect| {
                let visible = match &effect.place {
                    None => true,
                    Some(place) if place.home.is_none() => !aliases.knows(place),
                    Some(place) if place.home == Some(id) => {
                        let is_param = params.contains(&place.root);
                        let rebinds_name = effect.kind == EffectKind::Bind && place.attrs.is_empty();
                        is_param && !rebinds_name && effect.kind != EffectKind::Unbind
                    }
                    Some(_) => true,
                };
                if visible {
                    let number = met.number(effect.kind, effect.place);
                    if met.summarized.insert(number) {
                        effects.push(effect);
                    }
                }
            });
        }
        if effects.len() > MAX_EFFECTS {
            return (Some(Summary::unknown(project, id, met)), asked);
        }
        (Some(Summary::new(id, effects, met)), asked)
    }
}

impl Summary {
    /// Of a function that cannot be followed.
    fn unknown(project: &Project, id: ScopeId, met: &mut Met) -> Self {
        let range = project.scopes.list[id].body.first().map(|stmt| stmt.range).unwrap_or_default();
        Summary::new(id, vec![Effect::new(EffectKind::Unknown, None, range, Reason::TooMuch)], met)
    }
}
