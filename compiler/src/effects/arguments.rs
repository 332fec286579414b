//! What a function of the project changes, as each of its callers sees it.

use super::Effect;
use super::alias::arrange;
use super::extract::Extractor;
use super::place::Place;
use super::reason::Reason;
use super::site::{Context, Site};
use crate::name::Name;
use crate::scopes::{Owner, ScopeId};
use crate::syntax::tree::{Call, Expr, ExprKind, ParamKind};
use rustc_hash::FxHashMap;

impl Extractor<'_, '_> {
    /// Methods of the project that run without being called by name: of the object's class, if that is known, else of
    /// any class that computes an attribute so named.
    pub(super) fn implicit(&self, scope: ScopeId, object: &Expr, names: &[&str], out: &mut Vec<Effect>) {
        let class = self.project.class_of_value(scope, object);
        let mut targets = Vec::new();
        for &name in names {
            match (class, self.property(name)) {
                (_, Some(name)) => targets.extend(self.project.accessors(class, name)),
                (Some(class), None) => targets.extend(self.project.methods(class, name)),
                (None, None) => {}
            }
        }
        if !targets.is_empty() {
            self.run_on(scope, object, targets, out);
        }
    }

    /// To read an attribute that a class computes runs its getter, not what runs when it is assigned or deleted.
    pub(super) fn read_property(&self, scope: ScopeId, object: &Expr, attr: Name, out: &mut Vec<Effect>) {
        let class = self.project.class_of_value(scope, object);
        let getters = self.project.accessors(class, attr).into_iter().filter(|&target| !self.is_setter(target));
        self.run_on(scope, object, getters, out);
    }

    /// `@rate.setter`, `@rate.deleter`.
    fn is_setter(&self, target: ScopeId) -> bool {
        let Owner::Function(function) = self.project.scopes.list[target].owner else { return false };
        function.decorators.iter().any(|decorator| match &decorator.kind {
            ExprKind::Attribute { attr, .. } => attr == "setter" || attr == "deleter",
            _ => false,
        })
    }

    fn run_on(&self, scope: ScopeId, object: &Expr, targets: impl IntoIterator<Item = ScopeId>, out: &mut Vec<Effect>) {
        let call = Call { callee: object.clone(), args: Vec::new(), keywords: Vec::new() };
        let site = Site::new(Context::new(scope, None), &call, object.range);
        targets.into_iter().for_each(|target| self.summary(site, Some(object), target, out));
    }

    /// The name, if some class computes an attribute so named.
    fn property(&self, name: &str) -> Option<Name> {
        Name::known(name).filter(|&name| self.project.is_property(name))
    }

    /// What a function of the project changes, as its caller sees it.
    pub(super) fn summary(&self, site: Site, receiver: Option<&Expr>, target: ScopeId, out: &mut Vec<Effect>) {
        let Some(summary) = self.summary_of(target) else { return };
        let (all, on_arguments) = if self.is_said(target) {
            (&[][..], summary.on_arguments.as_slice())
        } else {
            (summary.effects.as_slice(), &[][..])
        };
        let again = on_arguments.iter().map(|&at| (&summary.effects[at as usize], summary.numbers[at as usize]));
        let effects = all.iter().zip(summary.numbers.iter().copied()).chain(again);
        let callee = self.project.scopes.list[target].qualname;
        let mut given: FxHashMap<Name, Vec<Place>> = FxHashMap::default();
        for (inner, number) in effects {
            let here = |place: Option<Place>| Effect {
                kind: inner.kind,
                place,
                range: site.range,
                why: inner.why.inside(callee),
                assumed: inner.assumed,
            };
            let Some(place) = inner.place.as_ref().filter(|place| place.home == Some(target)) else {
                if self.is_new_number(number) {
                    out.push(here(inner.place));
                }
                continue;
            };
            let roots =
                given.entry(place.root).or_insert_with(|| self.argument_places(site, receiver, target, place.root));
            for root in roots.iter() {
                let reached = root.extend(&place.attrs);
                if self.is_news(inner.kind, reached) {
                    out.extend(Some(here(Some(reached))).filter(|reached| !self.is_only_read(reached)));
                }
            }
        }
    }

    /// `loss = criterion(model(batch), labels)`: where the result is used, a batch is taken to be read only, whether it
    /// is handed over here or by a function that was given it.
    pub(super) fn is_only_read(&self, effect: &Effect) -> bool {
        matches!(effect.why.innermost(), Reason::Handed { result_used: true })
            && effect.place.as_ref().is_some_and(|place| self.aliases.is_element(place))
    }

    /// The places that a parameter of `target` stands for in this call.
    pub(super) fn argument_places(
        &self,
        site: Site,
        receiver: Option<&Expr>,
        target: ScopeId,
        param: Name,
    ) -> Vec<Place> {
        let Site { scope, call, .. } = site;
        let Owner::Function(function) = self.project.scopes.list[target].owner else { return Vec::new() };
        let is_static = function.decorators.iter().any(|expr| is_name(expr, "staticmethod"));
        let is_method = self.project.scopes.class_of(target).is_some() && !is_static;
        let Some(index) = function.params.iter().position(|known| known.name == param) else {
            return Vec::new();
        };
        if is_method && index == 0 {
            return receiver.map(|receiver| self.reach(scope, receiver)).unwrap_or_default();
        }
        let kind = function.params[index].kind;
        let position = index - usize::from(is_method);
        let named = call.keywords.iter().filter(|(name, _)| match (name, kind) {
            (None, _) => true,
            (Some(name), ParamKind::KwArgs) => !function.params.iter().any(|known| known.name == *name),
            (Some(name), _) => *name == param,
        });
        let mut values: Vec<&Expr> = named.map(|(_, value)| value).collect();
        let first_star = call.args.iter().position(|arg| matches!(arg.kind, ExprKind::Starred(_)));
        match kind {
            ParamKind::VarArgs => values.extend(call.args.iter().skip(position)),
            ParamKind::Positional => {
                if first_star.is_some_and(|star| star <= position) {
                    values.extend(call.args.iter().skip(first_star.unwrap_or(0)));
                } else {
                    values.extend(call.args.get(position));
                }
            }
            _ => {}
        }
        let mut places: Vec<Place> = values.into_iter().flat_map(|value| self.reach(scope, value)).collect();
        arrange(&mut places);
        places
    }
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(found) if found == name)
}
