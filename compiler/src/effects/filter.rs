//! A loop's effects to its changeset: loop-scoped names leave, names read after the loop stay.

use super::alias::spread;
use super::changeset::{Change, Changeset, Obstacle};
use super::extract::Extractor;
use super::place::Place;
use super::reason::Reason;
use super::{Effect, EffectKind};
use crate::flow::Flow;
use crate::loops::Loop;
use crate::name::Name;
use crate::scopes::{Owner, ScopeId, own_names};
use crate::syntax::tree::{Expr, ExprKind};
use crate::syntax::walk;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// When a loop's changeset is taken and put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instant {
    /// When the loop is over: the loop is skipped.
    LoopEnd,
    /// At the start of an iteration, when the target is bound: the iterations before it are skipped.
    IterationStart,
}

/// The changeset of a loop.
///
/// # Errors
/// The first obstacle when some effect cannot be followed or put back.
pub fn changeset(extractor: &Extractor, flow: &Flow, entry: &Loop, at: Instant) -> Result<Changeset, Obstacle> {
    gathered(extractor, flow, entry, at, None)
}

/// The changeset of a library's loop: what the objects of these names reach, and what its function's own names show.
pub fn listed_changeset(extractor: &Extractor, flow: &Flow, entry: &Loop, at: Instant, names: &[String]) -> Changeset {
    gathered(extractor, flow, entry, at, Some(names)).unwrap_or_default()
}

fn gathered(
    extractor: &Extractor,
    flow: &Flow,
    entry: &Loop,
    at: Instant,
    listed: Option<&[String]>,
) -> Result<Changeset, Obstacle> {
    let filter = Filter::new(extractor, flow, entry, at);
    let mut found: BTreeMap<Place, (usize, Change)> = BTreeMap::new();
    let mut writes = false;
    let reached = listed.into_iter().flatten().map(|name| {
        let name = Name::new(name);
        let place = Place::name(extractor.project.scopes.resolve(entry.scope, name), name);
        Effect::new(EffectKind::Mutate, Some(place), entry.stmt.range, Reason::Listed)
    });
    for effect in reached.chain(extractor.suite(entry.scope, std::slice::from_ref(entry.stmt))) {
        // so may code that florc cannot see, and the body of a generator that `next` moves on
        writes |= effect.assumed || matches!(effect.kind, EffectKind::Writes | EffectKind::Consume);
        let iterates = effect.kind == EffectKind::Iterate;
        let stands_for_others = |place: &Place| filter.is_transient(place) || (iterates && filter.is_spent(place));
        let mut spread_out = Vec::new();
        spread(extractor.aliases, effect, &stands_for_others, &mut |effect| spread_out.push(effect));
        for effect in spread_out {
            let change = match filter.change(&effect) {
                // what the list has stands for all that cannot be followed, or is not the function's own
                Err(_) if listed.is_some() => continue,
                Ok(Some(change)) if listed.is_some_and(|names| !filter.is_of_listed(&change, names)) => continue,
                change => change?,
            };
            let Some(change) = change else { continue };
            let order = found.len();
            match found.get_mut(&change.place) {
                Some((_, known)) => merge(known, &change),
                None => {
                    found.insert(change.place, (order, change));
                }
            }
        }
    }
    Ok(Changeset { changes: arrange(gather(found.into_values().collect())), writes })
}

/// Three attributes of one object or more are the object.
fn gather(found: Vec<(usize, Change)>) -> Vec<(usize, Change)> {
    let mut count: BTreeMap<Place, usize> = BTreeMap::new();
    for (_, change) in &found {
        count.entry(owner(&change.place)).and_modify(|count| *count += 1).or_insert(1);
    }
    let mut out: Vec<(usize, Change)> = Vec::new();
    for (order, change) in found {
        let object = owner(&change.place);
        let is_self = object.attrs.is_empty() && (&*object.root == "self" || object == change.place);
        if is_self || change.iterated || count[&object] < ATTRIBUTES_OF_ONE {
            out.push((order, change));
        } else if !out.iter().any(|(_, known)| known.place == object) {
            out.push((order, Change { place: object, mutated: true, bound: false, ..change }));
        }
    }
    out
}

/// See [`gather`].
const ATTRIBUTES_OF_ONE: usize = 3;

/// The object that a place is an attribute of; of a plain name, the name.
fn owner(place: &Place) -> Place {
    let keep = place.attrs.len().saturating_sub(1);
    Place { attrs: place.attrs.first(keep), ..*place }
}

fn merge(known: &mut Change, new: &Change) {
    if known.assumed && !new.assumed {
        known.range = new.range;
        known.why.clone_from(&new.why);
        known.assumed = false;
    }
    known.mutated |= new.mutated;
    known.bound |= new.bound;
    known.iterated &= new.iterated;
    known.maybe &= new.maybe;
    known.global |= new.global; // what only reads a global does not ask how it is bound
}

/// Drops what a larger place covers; what is changed in place first, then what is iterated over, then what is rebound.
fn arrange(found: Vec<(usize, Change)>) -> Vec<Change> {
    let covered = |change: &Change| {
        found.iter().any(|(_, other)| {
            let holds_all = (other.mutated || other.bound) && !other.iterated;
            other.place != change.place && holds_all && other.place.covers(&change.place)
        })
    };
    let mut kept: Vec<&(usize, Change)> = found.iter().filter(|(_, change)| !covered(change)).collect();
    kept.sort_by_key(|(order, change)| (change.bound, change.iterated, *order));
    kept.into_iter().map(|(_, change)| change.clone()).collect()
}

struct Filter<'a, 'p, 't> {
    extractor: &'a Extractor<'p, 't>,
    flow: &'a Flow,
    entry: &'a Loop<'t>,
    at: Instant,
    /// Names bound by statements of the loop.
    bound_inside: FxHashSet<Name>,
    /// Names that belong to comprehensions and lambdas of the loop.
    inner_names: FxHashSet<Name>,
}

impl<'a, 'p, 't> Filter<'a, 'p, 't> {
    fn new(extractor: &'a Extractor<'p, 't>, flow: &'a Flow, entry: &'a Loop<'t>, at: Instant) -> Self {
        let mut bound_inside = FxHashSet::default();
        let mut inner_names = FxHashSet::default();
        walk::statements(std::slice::from_ref(entry.stmt), &mut |stmt| {
            crate::scopes::bound_names(stmt, &mut |name| {
                bound_inside.insert(name);
            });
            for expr in walk::own_expressions(stmt) {
                names_of_inner_scopes(expr, &mut inner_names);
            }
        });
        Self { extractor, flow, entry, at, bound_inside, inner_names }
    }

    /// Whether the value that a name of this scope has then may be read later.
    fn is_live(&self, name: Name) -> bool {
        match self.at {
            Instant::LoopEnd => self.flow.live_after(self.entry.stmt, name),
            Instant::IterationStart => self.flow.live_into_body(self.entry.stmt, name),
        }
    }

    /// Whether a name of this scope is surely bound then.
    fn is_bound(&self, name: Name) -> bool {
        match self.at {
            Instant::LoopEnd => self.flow.surely_bound_after(self.entry.stmt, name),
            Instant::IterationStart => self.flow.surely_bound_in_body(self.entry.stmt, name),
        }
    }

    /// Whether it is surely bound where its state is put back.
    fn was_bound(&self, name: Name) -> bool {
        match self.at {
            Instant::LoopEnd => self.flow.surely_bound_before(self.entry.stmt, name),
            Instant::IterationStart => self.flow.surely_bound_in_body(self.entry.stmt, name),
        }
    }

    fn change(&self, effect: &Effect) -> Result<Option<Change>, Obstacle> {
        let obstacle = |why: Reason| Obstacle { range: effect.range, why };
        if effect.kind == EffectKind::Unknown {
            return Err(obstacle(effect.why.clone()));
        }
        let Some(place) = &effect.place else { return Ok(None) };
        let rebinds_name = effect.kind == EffectKind::Bind || effect.kind == EffectKind::Unbind;
        let is_name = place.attrs.is_empty();
        let here = place.home == Some(self.entry.scope);
        let reachable = self.extractor.project.scopes.resolve(self.entry.scope, place.root) == place.home;
        let global = !reachable && self.is_module(place.home);
        if !reachable && !global {
            if place.home.is_none() || self.is_local_of_other_function(place) {
                return Ok(None);
            }
            return Err(obstacle(Reason::OutOfReach(*place)));
        }
        if place.home.is_none() && self.inner_names.contains(&place.root) {
            return Ok(None);
        }
        if rebinds_name && is_name {
            let declared = here || self.declared(place.root) || self.is_module(place.home);
            if !declared {
                return Err(obstacle(Reason::OuterName(*place)));
            }
            if here && !self.is_live(place.root) {
                return Ok(None);
            }
        } else if self.loop_scoped(place) || (effect.kind == EffectKind::Iterate && self.is_spent(place)) {
            return Ok(None);
        }
        // An iterator that `next` moves cannot be put back in place, so another object may come back under its name.
        let moves = effect.kind == EffectKind::Consume && is_name && here;
        let assigns = moves || effect.kind == EffectKind::Bind || (effect.kind == EffectKind::Unbind && is_name);
        // A function that a loop calls may bind a global; the loop's own function cannot assign it without `global`.
        let global =
            global || (assigns && is_name && !here && !self.declared(place.root)) || self.declared_later(place.root);
        let scopes = &self.extractor.project.scopes;
        let elsewhere = place.home.filter(|&home| scopes.list[home].file != scopes.list[self.entry.scope].file);
        Ok(Some(Change {
            place: *place,
            module: elsewhere.and_then(|home| self.extractor.project.module_name(home)).map(str::to_owned),
            mutated: matches!(effect.kind, EffectKind::Mutate | EffectKind::Consume),
            bound: assigns,
            iterated: effect.kind == EffectKind::Iterate,
            maybe: self.maybe(place),
            global,
            bound_before: is_name && here && self.was_bound(place.root),
            range: effect.range,
            why: effect.why.clone(),
            assumed: effect.assumed,
        }))
    }

    /// Whether a place of a library's loop is the function's own, and is listed, or gets another object that is read later.
    fn is_of_listed(&self, change: &Change, names: &[String]) -> bool {
        let is_listed = || names.iter().any(|name| **name == *change.place.root);
        let is_bound = || !change.mutated && self.is_live(change.place.root);
        change.place.home == Some(self.entry.scope) && (is_listed() || is_bound())
    }

    fn is_module(&self, scope: Option<ScopeId>) -> bool {
        scope.is_some_and(|scope| self.extractor.project.scopes.is_module(scope))
    }

    fn declared(&self, name: Name) -> bool {
        let scope = &self.extractor.project.scopes.list[self.entry.scope];
        scope.globals.contains(&name) || scope.nonlocals.contains(&name)
    }

    /// Whether the function says `global name` only after the loop: the name must not stand in its text before that.
    fn declared_later(&self, name: Name) -> bool {
        let scopes = &self.extractor.project.scopes;
        let declares = || scopes.text(self.entry.scope).declares_global(name);
        scopes.list[self.entry.scope].globals.contains(&name) && declares().is_none_or(|id| id >= self.entry.stmt.id)
    }

    fn is_local_of_other_function(&self, place: &Place) -> bool {
        let Some(home) = place.home else { return true };
        let scopes = &self.extractor.project.scopes;
        // A scope around this one is reached by `nonlocal`; anything else is gone when its call returns.
        let is_around = scopes.ancestors(self.entry.scope).any(|scope| scope == home);
        !is_around && matches!(scopes.list[home].owner, Owner::Function(_))
    }

    /// Whether a name says nothing after the loop: what it stands for is asked instead.
    fn is_transient(&self, place: &Place) -> bool {
        place.home.is_none() && self.inner_names.contains(&place.root)
            || self.is_local_elsewhere(place)
            || self.loop_scoped(place)
    }

    /// Whether a name holds an iterator over other objects (`bar = tqdm(enumerate(loader))`) that nobody reads after the
    /// loop: these objects matter then, not how far it came.
    fn is_spent(&self, place: &Place) -> bool {
        place.attrs.is_empty()
            && place.home == Some(self.entry.scope)
            && !self.is_live(place.root)
            && self.extractor.only_walks(self.entry.scope, place.root)
    }

    /// Whether the name is a local of a function that this loop's scope does not see.
    fn is_local_elsewhere(&self, place: &Place) -> bool {
        let reachable = self.extractor.project.scopes.resolve(self.entry.scope, place.root) == place.home;
        !reachable && !self.is_module(place.home) && self.is_local_of_other_function(place)
    }

    /// Whether the object that a name holds is made anew in every iteration and gone after the loop.
    fn loop_scoped(&self, place: &Place) -> bool {
        place.home == Some(self.entry.scope)
            && self.bound_inside.contains(&place.root)
            && !self.flow.live_into_body(self.entry.stmt, place.root)
            && !self.is_live(place.root)
    }

    /// Whether reading the place when the loop is over could fail.
    fn maybe(&self, place: &Place) -> bool {
        let here = place.home == Some(self.entry.scope);
        let root_maybe = match place.home {
            _ if here => !self.is_bound(place.root),
            Some(home) if self.is_module(place.home) => {
                !self.extractor.project.scopes.text(home).binds_at_top(place.root) || !self.is_mentioned(place.root)
            }
            Some(_) => false,
            None => !self.is_mentioned(place.root),
        };
        match &*place.attrs {
            [] => root_maybe,
            [attr] => root_maybe || !self.set_by_init(place, *attr),
            // what the first attribute holds may be a list of objects that have the second
            _ => true,
        }
    }

    /// Whether the loop's own function names it, outside comprehensions and lambdas that have such a name of their own:
    /// else it may be called before the global is bound, or the name may be no global at all.
    fn is_mentioned(&self, name: Name) -> bool {
        self.extractor.project.scopes.text(self.entry.scope).mentions(name)
    }

    /// Whether the class of the place's root sets the attribute in its `__init__`, not under a condition.
    fn set_by_init(&self, place: &Place, attr: Name) -> bool {
        let project = self.extractor.project;
        let root = Expr { range: self.entry.stmt.range, kind: ExprKind::Name(place.root) };
        let Some(class) = project.class_of_value(self.entry.scope, &root) else { return false };
        let Some(init) = project.method(class, "__init__") else { return false };
        let Some(itself) = project.scopes.self_name(init) else { return false };
        project.scopes.list[init]
            .body
            .iter()
            .any(|stmt| crate::scopes::targets(stmt).into_iter().any(|target| sets_attribute(target, itself, attr)))
    }
}

fn sets_attribute(target: &Expr, itself: Name, attr: Name) -> bool {
    match &target.kind {
        ExprKind::Attribute { value, attr: found } => {
            *found == attr && matches!(&value.kind, ExprKind::Name(name) if *name == itself)
        }
        ExprKind::Display { items, .. } => items.iter().any(|item| sets_attribute(item, itself, attr)),
        _ => false,
    }
}

fn names_of_inner_scopes(expr: &Expr, out: &mut FxHashSet<Name>) {
    walk::expressions(expr, &mut |part| {
        own_names(part, &mut |name| {
            out.insert(name);
        });
        true
    });
}
