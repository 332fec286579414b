//! What one call changes.

use super::extract::Extractor;
use super::knowledge::{Facts, Knowledge};
use super::place::Place;
use super::{Effect, EffectKind};
use crate::calls::{Callee, Denoted};
use crate::scopes::{Owner, ScopeId};
use crate::source::Range;
use crate::syntax::tree::{Call, Expr, ExprKind, ParamKind};
use std::collections::BTreeSet;

impl Extractor<'_, '_> {
    pub(super) fn call(&self, scope: ScopeId, call: &Call, range: Range, out: &mut Vec<Effect>) {
        match self.project.callee(scope, call) {
            Callee::Library(name) => self.library(scope, call, &name, range, out),
            Callee::Method { receiver, name } => {
                let facts = Knowledge::shipped().method(name);
                self.method(scope, call, receiver, name, facts, range, out);
            }
            Callee::Methods { receiver, targets, name, sure } => {
                for &target in &targets {
                    self.summary(scope, call, Some(receiver), target, range, out);
                }
                if !sure {
                    let facts = Knowledge::shipped().method(name).unwrap_or_else(receiver_only);
                    self.method(scope, call, receiver, name, Some(facts), range, out);
                }
            }
            Callee::Functions(targets) => {
                for &target in &targets {
                    self.summary(scope, call, None, target, range, out);
                }
            }
            Callee::Class(init) => {
                if let Some(target) = init {
                    self.summary(scope, call, None, target, range, out);
                }
            }
            Callee::Object { object, target } => self.object(scope, call, object, target, range, out),
            Callee::Variable(callee) => self.variable(scope, call, callee, range, out),
        }
        self.callbacks(scope, call, range, out);
    }

    fn library(&self, scope: ScopeId, call: &Call, name: &str, range: Range, out: &mut Vec<Effect>) {
        let shown = name.strip_prefix("builtins.").unwrap_or(name);
        let Some(facts) = Knowledge::shipped().function(name) else {
            let why = format!("{shown}() is not known and may change its arguments");
            self.mutate_arguments(scope, call, range, &why, true, out);
            return;
        };
        if facts.unknowable {
            out.push(effect(EffectKind::Unknown, None, range, format!("{shown}() can change any name")));
        }
        if matches!(name, "builtins.setattr" | "builtins.delattr") && !has_literal_name(call) {
            out.push(effect(EffectKind::Unknown, None, range, format!("{shown}() with a computed name")));
        }
        self.apply(scope, call, None, facts, shown, range, out);
    }

    #[allow(clippy::too_many_arguments)] // one call, described
    fn method(
        &self,
        scope: ScopeId,
        call: &Call,
        receiver: &Expr,
        name: &str,
        facts: Option<Facts>,
        range: Range,
        out: &mut Vec<Effect>,
    ) {
        if let Some(facts) = facts {
            self.apply(scope, call, Some(receiver), facts, name, range, out);
            return;
        }
        let why = format!("{name}() is not known and may change its receiver and arguments");
        for place in self.reach(scope, receiver) {
            out.push(Effect { assumed: true, ..effect(EffectKind::Mutate, Some(place), range, why.clone()) });
        }
        self.mutate_arguments(scope, call, range, &why, true, out);
    }

    #[allow(clippy::too_many_arguments)]
    fn apply(
        &self,
        scope: ScopeId,
        call: &Call,
        receiver: Option<&Expr>,
        facts: Facts,
        name: &str,
        range: Range,
        out: &mut Vec<Effect>,
    ) {
        // A method that draws numbers advances the generator that it is called on.
        if let Some(receiver) = receiver.filter(|_| facts.mutates_receiver || facts.random) {
            for place in self.reach(scope, receiver) {
                out.push(effect(EffectKind::Mutate, Some(place), range, format!("{name}() changes its receiver")));
            }
        }
        if facts.mutates_arguments {
            self.mutate_arguments(scope, call, range, &format!("{name}() changes its arguments"), false, out);
        }
        let first = call.args.first();
        for (applies, kind, what) in [
            (facts.mutates_first, EffectKind::Mutate, "changes"),
            (facts.consumes_first, EffectKind::Consume, "advances"),
        ] {
            for place in first.filter(|_| applies).into_iter().flat_map(|first| self.reach(scope, first)) {
                out.push(effect(kind, Some(place), range, format!("{name}() {what} its first argument")));
            }
        }
        self.in_place_keywords(scope, call, name, range, out);
        if facts.external {
            out.push(effect(EffectKind::External, None, range, format!("{name}() speaks to the outside")));
        }
    }

    /// `F.relu(x, inplace=True)` changes `x`; `torch.add(a, b, out=c)` changes `c`.
    fn in_place_keywords(&self, scope: ScopeId, call: &Call, name: &str, range: Range, out: &mut Vec<Effect>) {
        for (keyword, value) in &call.keywords {
            let target = match keyword.as_deref() {
                Some("inplace") => call.args.first(),
                Some("out" | "generator" | "random_state" | "rng") => Some(value),
                _ => None,
            };
            for place in target.into_iter().flat_map(|target| self.reach(scope, target)) {
                out.push(effect(EffectKind::Mutate, Some(place), range, format!("{name}() works in place")));
            }
        }
    }

    fn object(
        &self,
        scope: ScopeId,
        call: &Call,
        object: &Expr,
        target: Option<ScopeId>,
        range: Range,
        out: &mut Vec<Effect>,
    ) {
        if self.is_stateless(scope, object) {
            return;
        }
        for place in self.reach(scope, object) {
            let why = format!("{place}(…) is called and may change itself");
            out.push(effect(EffectKind::Mutate, Some(place), range, why));
        }
        if let Some(target) = target {
            self.summary(scope, call, Some(object), target, range, out);
        }
    }

    /// Whether an object was only ever made by classes known to hold no state: `nn.CrossEntropyLoss()`.
    fn is_stateless(&self, scope: ScopeId, object: &Expr) -> bool {
        let key = match &object.kind {
            ExprKind::Name(name) => self.project.scopes.resolve(scope, name).map(|home| (home, name.clone())),
            ExprKind::Attribute { value, attr } => {
                self.project.class_of_value(scope, value).map(|class| (class, format!("self.{attr}")))
            }
            _ => None,
        };
        let Some(values) = key.and_then(|key| self.project.assigned.get(&key)) else { return false };
        values.iter().all(|value| match &value.kind {
            ExprKind::Call(call) => self
                .project
                .library_name(scope, &call.callee)
                .and_then(|name| Knowledge::shipped().function(&name))
                .is_some_and(|facts| facts.stateless),
            _ => false,
        })
    }

    /// A parameter or variable that may hold any function: it may change itself (a module does), and when its result is
    /// dropped it is called for an effect on its arguments.
    fn variable(&self, scope: ScopeId, call: &Call, callee: &Expr, range: Range, out: &mut Vec<Effect>) {
        self.lambdas(scope, callee, out);
        for place in self.reach(scope, callee) {
            let why = format!("{place}(…) is called and may change itself");
            out.push(Effect { assumed: true, ..effect(EffectKind::Mutate, Some(place), range, why) });
        }
        if self.result_dropped.get() == Some(range) {
            let why = "the result of this call is dropped: it may change its arguments";
            self.mutate_arguments(scope, call, range, why, true, out);
        }
    }

    /// A name that holds a lambda: what its body does.
    fn lambdas(&self, scope: ScopeId, callee: &Expr, out: &mut Vec<Effect>) {
        let ExprKind::Name(name) = &callee.kind else { return };
        let Some(home) = self.project.scopes.resolve(scope, name) else { return };
        let Some(depth) = self.lambda_depth.get().checked_sub(1) else { return };
        self.lambda_depth.set(depth);
        for value in self.project.assigned.get(&(home, name.clone())).into_iter().flatten() {
            if let ExprKind::Lambda { body, .. } = &value.kind {
                self.expression(home, body, out);
            }
        }
        self.lambda_depth.set(depth + 1);
    }

    fn mutate_arguments(
        &self,
        scope: ScopeId,
        call: &Call,
        range: Range,
        why: &str,
        assumed: bool,
        out: &mut Vec<Effect>,
    ) {
        for value in call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)) {
            for place in self.reach(scope, value) {
                out.push(Effect { assumed, ..effect(EffectKind::Mutate, Some(place), range, why.to_owned()) });
            }
        }
    }

    /// Methods of the project that run without being called by name: of the object's class, if that is known, else of
    /// any class that computes an attribute so named.
    pub(super) fn implicit(&self, scope: ScopeId, object: &Expr, names: &[&str], out: &mut Vec<Effect>) {
        let call = Call { callee: object.clone(), args: Vec::new(), keywords: Vec::new() };
        let class = self.project.class_of_value(scope, object);
        for name in names {
            let targets = match class {
                _ if self.project.is_property(name) => self.project.accessors(class, name),
                Some(class) => self.project.methods(class, name),
                None => Vec::new(),
            };
            for target in targets {
                self.summary(scope, &call, Some(object), target, object.range, out);
            }
        }
    }

    /// What a function of the project changes, in the words of the caller.
    fn summary(
        &self,
        scope: ScopeId,
        call: &Call,
        receiver: Option<&Expr>,
        target: ScopeId,
        range: Range,
        out: &mut Vec<Effect>,
    ) {
        let callee = &self.project.scopes.list[target];
        let Some(summary) = self.summaries.get(target) else { return };
        for inner in &summary.effects {
            let why = format!("{}(): {}", callee.qualname, inner.why.rsplit("(): ").next().unwrap_or(&inner.why));
            let Some(place) = &inner.place else {
                out.push(Effect { range, why, ..inner.clone() });
                continue;
            };
            if place.home != Some(target) {
                out.push(Effect { range, why, ..inner.clone() });
                continue;
            }
            for root in self.argument_places(scope, call, receiver, target, &place.root) {
                let reached = root.extend(&place.attrs);
                out.push(Effect { place: Some(reached), range, why: why.clone(), ..inner.clone() });
            }
        }
    }

    /// The places that a parameter of `target` stands for in this call.
    fn argument_places(
        &self,
        scope: ScopeId,
        call: &Call,
        receiver: Option<&Expr>,
        target: ScopeId,
        param: &str,
    ) -> BTreeSet<Place> {
        let Owner::Function(function) = self.project.scopes.list[target].owner else { return BTreeSet::new() };
        let is_static = function.decorators.iter().any(|expr| is_name(expr, "staticmethod"));
        let is_method = self.project.scopes.class_of(target).is_some() && !is_static;
        let Some(index) = function.params.iter().position(|known| known.name == param) else {
            return BTreeSet::new();
        };
        if is_method && index == 0 {
            return receiver.map(|receiver| self.reach(scope, receiver)).unwrap_or_default();
        }
        let kind = function.params[index].kind;
        let position = index - usize::from(is_method);
        let named = call.keywords.iter().filter(|(name, _)| match (name, kind) {
            (None, _) => true,
            (Some(name), ParamKind::KwArgs) => !function.params.iter().any(|known| known.name == *name),
            (Some(name), _) => name == param,
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
        values.into_iter().flat_map(|value| self.reach(scope, value)).collect()
    }

    /// Functions of the project that are handed over (`optimizer.step(closure)`) are taken to be called.
    fn callbacks(&self, scope: ScopeId, call: &Call, range: Range, out: &mut Vec<Effect>) {
        for value in call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)) {
            if let ExprKind::Attribute { value: receiver, attr } = &value.kind {
                self.bound_method(scope, receiver, attr, range, out);
            }
            let Some(Denoted::Definitions(found)) = self.project.denoted(scope, value) else { continue };
            for target in found {
                let Some(summary) = self.summaries.get(target) else { continue };
                let outer =
                    summary.effects.iter().filter(|inner| inner.place.as_ref().is_none_or(|p| p.home != Some(target)));
                out.extend(outer.map(|inner| Effect { range, ..inner.clone() }));
            }
        }
    }

    /// `map(log.append, rows)`: a method that is handed over is taken to be called.
    fn bound_method(&self, scope: ScopeId, receiver: &Expr, attr: &str, range: Range, out: &mut Vec<Effect>) {
        if self.project.library_name(scope, receiver).is_some() {
            return;
        }
        if Knowledge::shipped().method(attr).is_some_and(|facts| facts.mutates_receiver) {
            for place in self.reach(scope, receiver) {
                out.push(effect(EffectKind::Mutate, Some(place), range, format!("{attr}() changes its receiver")));
            }
        }
        self.implicit(scope, receiver, &[attr], out);
    }
}

fn effect(kind: EffectKind, place: Option<Place>, range: Range, why: String) -> Effect {
    Effect { kind, place, range, why, assumed: false }
}

fn receiver_only() -> Facts {
    Facts { mutates_receiver: true, ..Facts::default() }
}

fn has_literal_name(call: &Call) -> bool {
    use crate::syntax::tree::Literal;
    call.args.get(1).is_some_and(|arg| matches!(arg.kind, ExprKind::Constant(Literal::Str(_))))
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(found) if found == name)
}
