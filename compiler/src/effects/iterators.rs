//! Iterators that are made in one place and advanced in another.

use super::extract::Extractor;
use super::place::Place;
use super::reason::{Reason, without_builtins};
use super::receivers::count_of_bindings;
use super::site::Site;
use super::{Effect, EffectKind};
use crate::knowledge::{Knowledge, List};
use crate::name::Name;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Expr, ExprKind, StmtKind};
use crate::syntax::walk;

/// Whether an expression makes the iterator that it stands for.
pub(super) fn is_made_anew(expr: &Expr) -> bool {
    let ExprKind::Call(call) = &expr.kind else {
        return matches!(&expr.kind, ExprKind::Comprehension { is_generator: true, .. });
    };
    match &call.callee.kind {
        ExprKind::Attribute { attr, .. } => Knowledge::shipped().lists(List::MakesIterators, attr),
        ExprKind::Name(name) => name == "iter" && call.args.first().is_some_and(is_made_anew),
        _ => false,
    }
}

impl Extractor<'_, '_> {
    /// What `next(iter(x))` walks over: `x`, unless that may be an iterator itself, which would be advanced.
    pub(super) fn walked_anew<'e>(&self, scope: ScopeId, expr: &'e Expr) -> Option<&'e Expr> {
        let ExprKind::Call(call) = &expr.kind else { return None };
        let [walked] = call.args.as_slice() else { return None };
        let is_iter = self.project.library_name(scope, &call.callee).is_some_and(|name| name == "builtins.iter");
        let may_advance = |place: Place| place.home.is_some_and(|home| self.is_iterator(home, &place));
        (is_iter && !self.reach(scope, walked).into_iter().any(may_advance)).then_some(walked)
    }

    /// `list(stream)`, `sum(batches)`: an iterator made elsewhere is advanced.
    pub(super) fn advanced(&self, site: Site, name: Name, out: &mut Vec<Effect>) {
        if !Knowledge::shipped().lists(List::Exhausts, &name) {
            return;
        }
        let name = without_builtins(name);
        for place in site.call.args.iter().flat_map(|argument| self.reach(site.scope, argument)) {
            if place.home.is_some_and(|home| self.is_iterator(home, &place)) {
                let why = Reason::Exhausted(name);
                out.push(Effect::new(EffectKind::Consume, Some(place), site.range, why));
            }
        }
    }

    /// Whether a name may hold an iterator: a generator, or what `iter`, `zip`, `map`, `itertools` make.
    fn is_iterator(&self, home: ScopeId, place: &Place) -> bool {
        let values = self.project.index.assigned.get(home, place.root);
        place.attrs.is_empty()
            && values.into_iter().flatten().any(|value| match &value.kind {
                ExprKind::Comprehension { is_generator, .. } => *is_generator,
                ExprKind::Call(call) => self.project.library_name(home, &call.callee).is_some_and(|name| {
                    let lazy = ["iter", "zip", "map", "filter", "enumerate", "reversed"];
                    name.starts_with("itertools.")
                        || name.strip_prefix("builtins.").is_some_and(|name| lazy.contains(&name))
                }),
                _ => false,
            })
    }

    /// Whether a name only ever holds iterators that take from what they were given, and run no code of the project.
    pub(super) fn only_walks(&self, home: ScopeId, name: Name) -> bool {
        let known = self.walks.borrow().get(&(home, name)).copied();
        known.unwrap_or_else(|| {
            let found = self.walks_within(home, name, 4);
            self.walks.borrow_mut().insert((home, name), found);
            found
        })
    }

    fn walks_within(&self, home: ScopeId, name: Name, fuel: usize) -> bool {
        let Some(fuel) = fuel.checked_sub(1) else { return false };
        let Some(values) = self.project.index.assigned.get(home, name) else { return false };
        values.len() == count_of_bindings(self.project, home, name)
            && values.iter().all(|value| self.is_walk(home, value))
            && self.only_iterated(home, name, fuel)
    }

    fn is_walk(&self, scope: ScopeId, value: &Expr) -> bool {
        let ExprKind::Call(call) = &value.kind else { return false };
        self.project.library_name(scope, &call.callee).is_some_and(|name| {
            // `iter(f, end)` calls `f`.
            (Knowledge::shipped().lists(List::Walks, &name) && !(name == "builtins.iter" && call.args.len() > 1))
                || Knowledge::shipped().made_by(&name) == "tqdm.tqdm"
        })
    }

    /// Whether a name is only ever iterated over, by a loop or by another such iterator, or asked for a method
    /// (`bar.set_postfix`): nothing else holds its object.
    fn only_iterated(&self, home: ScopeId, name: Name, fuel: usize) -> bool {
        let is_it = |scope: ScopeId, expr: &Expr| {
            matches!(&expr.kind, ExprKind::Name(found) if *found == name)
                && self.project.scopes.resolve(scope, name) == Some(home)
        };
        let scopes = &self.project.scopes;
        scopes.and_inside(home).all(|id| {
            let (mut mentions, mut accounted) = (0, 0);
            walk::statements(scopes.list[id].body, &mut |stmt| {
                let walked = match &stmt.kind {
                    StmtKind::For(node) => Some(&node.iter),
                    StmtKind::Assign { targets, value } => match targets.as_slice() {
                        [Expr { kind: ExprKind::Name(other), .. }] if *other != name && self.is_walk(id, value) => {
                            self.walks_within(id, *other, fuel).then_some(value)
                        }
                        _ => None,
                    },
                    _ => None,
                };
                for expr in walk::own_expressions(stmt) {
                    let is_walked = walked.is_some_and(|walked| walked.range == expr.range);
                    walk::expressions(expr, &mut |part| {
                        let is_asked = matches!(&part.kind, ExprKind::Call(call)
                            if matches!(&call.callee.kind, ExprKind::Attribute { value, .. } if is_it(id, value)));
                        mentions += usize::from(is_it(id, part) && !is_walked);
                        accounted += usize::from(is_asked && !is_walked);
                        true
                    });
                }
            });
            if id == home {
                accounted += count_of_bindings(self.project, home, name);
            }
            mentions <= accounted
        })
    }
}
