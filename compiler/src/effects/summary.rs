//! One summary per function: what calling it changes, in terms of its parameters and of the names around it.

use super::alias::Aliases;
use super::extract::Extractor;
use super::place::Place;
use super::{Effect, EffectKind};
use crate::calls::{CallGraph, Project};
use crate::scopes::{Owner, ScopeId};

/// What calling a function changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Effects on parameters, on names of scopes around the function, and on the world.
    pub effects: Vec<Effect>,
}

/// The summaries of a file's functions.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    list: Vec<Option<Summary>>,
}

/// Functions with more effects than this are summarized by their first ones; real functions stay far below.
const MAX_EFFECTS: usize = 400;

impl Summaries {
    /// Computes the summaries of a project, callees before callers, each recursive group to its fixpoint.
    pub fn new(project: &Project, graph: &CallGraph, aliases: &Aliases) -> Self {
        let count = project.scopes.list.len();
        let mut all = Self { list: vec![None; count] };
        for group in graph.bottom_up(count) {
            // Effects only grow, and there are finitely many places: a group settles within a few rounds. The bound
            // covers attribute chains that grow along a recursion.
            for _ in 0..group.len() + 4 {
                let mut changed = false;
                for &id in &group {
                    let new = all.compute(project, aliases, id);
                    changed |= all.list[id] != new;
                    all.list[id] = new;
                }
                if !changed {
                    break;
                }
            }
        }
        all
    }

    /// The summary of a function; `None` for modules and classes.
    pub fn get(&self, scope: ScopeId) -> Option<&Summary> {
        self.list.get(scope)?.as_ref()
    }

    fn compute(&self, project: &Project, aliases: &Aliases, id: ScopeId) -> Option<Summary> {
        let scope = &project.scopes.list[id];
        if !matches!(scope.owner, Owner::Function(_)) {
            return None;
        }
        let extractor = Extractor::new(project, aliases, self);
        let params = scope.params();
        let mut effects: Vec<Effect> = Vec::new();
        for effect in extractor.suite(id, scope.body) {
            // A parameter that is assigned (`m = m or default`) may stand for something else, too.
            // A name that no scope binds may belong to a comprehension or a lambda.
            let own = |place: &Place| place.home == Some(id) || place.home.is_none();
            for effect in spread(aliases, effect, &own) {
                let visible = match &effect.place {
                    None => true,
                    Some(place) if place.home.is_none() => !aliases.knows(place),
                    Some(place) if place.home == Some(id) => {
                        let is_param = params.contains(&place.root.as_str());
                        let rebinds_name = effect.kind == EffectKind::Bind && place.attrs.is_empty();
                        is_param && !rebinds_name && effect.kind != EffectKind::Unbind
                    }
                    Some(_) => true,
                };
                let known = effects.iter().any(|old| old.kind == effect.kind && old.place == effect.place);
                if visible && !known && effects.len() < MAX_EFFECTS {
                    effects.push(effect);
                }
            }
        }
        Some(Summary { effects })
    }
}

/// An effect on an object that only a local name reaches is an effect on whatever that name may stand for.
pub(super) fn spread(aliases: &Aliases, effect: Effect, is_local: &dyn Fn(&Place) -> bool) -> Vec<Effect> {
    let changes_object = matches!(effect.kind, EffectKind::Mutate | EffectKind::Iterate | EffectKind::Consume)
        || effect.place.as_ref().is_some_and(|place| !place.attrs.is_empty());
    match &effect.place {
        Some(place) if changes_object && is_local(place) => aliases
            .all(place, is_local)
            .into_iter()
            .map(|place| Effect { place: Some(place), ..effect.clone() })
            .collect(),
        _ => vec![effect],
    }
}
