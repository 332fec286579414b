//! What one call changes.

use super::extract::Extractor;
use super::iterators::is_made_anew;
use super::knowledge::{Facts, Knowledge};
use super::place::Place;
use super::receivers::method_facts;
use super::{Effect, EffectKind};
use crate::calls::Callee;
use crate::project::Denoted;
use crate::scopes::{Owner, ScopeId};
use crate::source::Range;
use crate::syntax::tree::{Call, Expr, ExprKind, Literal, ParamKind};
use std::collections::{BTreeMap, BTreeSet};

/// Why an argument of a call that florc cannot follow may change.
const HANDED: &str = "handed to a call that florc cannot see into, which may change it";
/// The same where nothing else can be what the call is for.
const DROPPED: &str = "handed to a call that florc cannot see into, and whose result is dropped";

impl Extractor<'_, '_> {
    pub(super) fn call(&self, scope: ScopeId, call: &Call, range: Range, out: &mut Vec<Effect>) {
        match self.project.callee(scope, call) {
            Callee::Library(name) => self.library(scope, call, &name, range, out),
            Callee::Method { receiver, name } => {
                let mut facts = method_facts(self.project, scope, call, receiver, name);
                // `scaler.step(optimizer)` is a statement; `env.step(action)` is asked for what it returns.
                if name == "step" && self.result_dropped.get() != Some(range) {
                    facts = facts.map(|known| Facts { mutates_arguments: false, ..known });
                }
                self.method(scope, call, receiver, name, facts, range, out);
            }
            Callee::Methods { receiver, targets, name, sure } => {
                for &target in &targets {
                    self.summary(scope, call, Some(receiver), target, range, out);
                }
                if !sure {
                    let facts = Knowledge::shipped().method(None, name).unwrap_or_else(receiver_only);
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
        // `vars(args)` is a part of its argument; without one it is all local names.
        if facts.unknowable && (name != "builtins.vars" || call.args.is_empty()) {
            out.push(Effect::new(EffectKind::Unknown, None, range, format!("{shown}() can change any name")));
        }
        if facts.settings && self.result_dropped.get() == Some(range) {
            let why = format!("{shown}() changes a setting that no checkpoint holds");
            out.push(Effect::new(EffectKind::Unknown, None, range, why));
        }
        if matches!(name, "builtins.setattr" | "builtins.delattr") && !has_literal_name(call) {
            out.push(Effect::new(EffectKind::Unknown, None, range, format!("{shown}() with a computed name")));
        }
        if matches!(name, "builtins.setattr" | "builtins.delattr")
            && call.args.first().is_some_and(|object| self.is_of_library(scope, object))
        {
            out.push(Effect::new(EffectKind::Unknown, None, range, format!("{shown}() of what is imported")));
        }
        self.apply(scope, call, None, facts, shown, range, out);
        self.advanced(scope, call, name, range, out);
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
        if name == "register" && self.is_function(scope, receiver) {
            // `functools.singledispatch`: what it keeps is in no object that a checkpoint could hold
            let why = "what a function is registered with is kept where no checkpoint has it".to_owned();
            out.push(Effect::new(EffectKind::Unknown, None, range, why));
        }
        let why = format!("{name}() is not known and may change its receiver and arguments");
        for place in self.reach(scope, receiver) {
            out.push(Effect { assumed: true, ..Effect::new(EffectKind::Mutate, Some(place), range, why.clone()) });
        }
        self.mutate_arguments(scope, call, range, &why, true, out);
    }

    /// Whether an expression denotes a function of the project.
    fn is_function(&self, scope: ScopeId, expr: &Expr) -> bool {
        let Some(Denoted::Definitions(found)) = self.project.denoted(scope, expr) else { return false };
        found.iter().any(|id| matches!(self.project.scopes.list[*id].owner, Owner::Function(_)))
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
                out.push(Effect::new(EffectKind::Mutate, Some(place), range, format!("{name}() changes its receiver")));
            }
        }
        if facts.mutates_arguments {
            self.mutate_arguments(scope, call, range, &format!("{name}() changes its arguments"), false, out);
        }
        for (applies, at, kind, what) in [
            (facts.mutates_first, 0, EffectKind::Mutate, "changes its first argument"),
            (facts.mutates_second, 1, EffectKind::Mutate, "changes its second argument"),
            (facts.mutates_third, 2, EffectKind::Mutate, "changes its third argument"),
            (facts.consumes_first, 0, EffectKind::Consume, "advances its first argument"),
        ] {
            // `all_reduce(tensor=x)`: where the first argument has a name, florc does not know which.
            let by_name = call.keywords.first().map(|(_, value)| value).filter(|_| call.args.is_empty() && at == 0);
            let is_other = |argument: &&Expr| kind != EffectKind::Consume || !is_made_anew(argument);
            let argument = call.args.get(at).or(by_name).filter(|_| applies).filter(is_other);
            if let Some(walked) =
                argument.filter(|_| kind == EffectKind::Consume).and_then(|it| self.walked_anew(scope, it))
            {
                self.iterate(scope, walked, out);
                continue;
            }
            for place in argument.into_iter().flat_map(|argument| self.reach(scope, argument)) {
                out.push(Effect::new(kind, Some(place), range, format!("{name}() {what}")));
            }
        }
        self.in_place_keywords(scope, call, receiver, name, range, out);
        if facts.external {
            out.push(Effect::new(EffectKind::External, None, range, format!("{name}() speaks to the outside")));
            // `print("…", file=log)`
            if !facts.quiet
                || call.keywords.iter().any(|(keyword, _)| matches!(keyword.as_deref(), Some("file") | None))
            {
                out.push(Effect::new(EffectKind::Writes, None, range, format!("{name}() may write to an open file")));
            }
        }
    }

    /// `F.relu(x, inplace=True)` changes `x`; `torch.add(a, b, out=c)` changes `c`.
    fn in_place_keywords(
        &self,
        scope: ScopeId,
        call: &Call,
        receiver: Option<&Expr>,
        name: &str,
        range: Range,
        out: &mut Vec<Effect>,
    ) {
        for (keyword, value) in &call.keywords {
            let target = match keyword.as_deref() {
                Some("inplace") if !is_false(value) => call.args.first().or(receiver),
                Some("out" | "output" | "dst" | "generator" | "random_state" | "rng") => Some(value),
                _ => None,
            };
            for place in target.into_iter().flat_map(|target| self.reach(scope, target)) {
                out.push(Effect::new(EffectKind::Mutate, Some(place), range, format!("{name}() works in place")));
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
        self.handlers(range, out);
        if target.is_none() && self.made_from_functions(scope, call, object, range, out) {
            return;
        }
        for place in self.reach(scope, object) {
            let why = format!("{place}(…) is called and may change itself");
            out.push(Effect::new(EffectKind::Mutate, Some(place), range, why));
        }
        if let Some(target) = target {
            self.summary(scope, call, Some(object), target, range, out);
        }
    }

    /// Whether an object was only ever made by classes known to hold no state: `nn.CrossEntropyLoss()`.
    fn is_stateless(&self, scope: ScopeId, object: &Expr) -> bool {
        let Some(values) = self.project.values_of(scope, object) else { return false };
        values.iter().all(|value| match &value.kind {
            ExprKind::Call(call) => self
                .project
                .library_name(scope, &call.callee)
                .and_then(|name| Knowledge::shipped().function(&name))
                .is_some_and(|facts| facts.stateless),
            _ => false,
        })
    }

    /// A parameter or variable that may hold any function: it may change itself (a module does) and its arguments.
    fn variable(&self, scope: ScopeId, call: &Call, callee: &Expr, range: Range, out: &mut Vec<Effect>) {
        self.handlers(range, out);
        self.lambdas(scope, callee, out);
        self.made_from_functions(scope, call, callee, range, out);
        for place in self.reach(scope, callee) {
            let why = format!("{place}(…) is called and may change itself");
            out.push(Effect { assumed: true, ..Effect::new(EffectKind::Mutate, Some(place), range, why) });
        }
        let used = self.result_dropped.get() != Some(range);
        let mut handed = Vec::new();
        self.mutate_arguments(scope, call, range, if used { HANDED } else { DROPPED }, true, &mut handed);
        handed.retain(|effect| !self.is_only_read(effect));
        out.extend(handed);
    }

    /// `loss = criterion(model(batch), labels)`: where the result is used, a batch is taken to be read only, whether it
    /// is handed over here or by a function that was given it.
    fn is_only_read(&self, effect: &Effect) -> bool {
        effect.why.ends_with(HANDED) && effect.place.as_ref().is_some_and(|place| self.aliases.is_element(place))
    }

    pub(super) fn mutate_arguments(
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
                out.push(Effect { assumed, ..Effect::new(EffectKind::Mutate, Some(place), range, why.to_owned()) });
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
    pub(super) fn summary(
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
        let why = |inner: &Effect| {
            format!("{}(): {}", callee.qualname, inner.why.rsplit("(): ").next().unwrap_or(&inner.why))
        };
        let mut given: BTreeMap<&str, BTreeSet<Place>> = BTreeMap::new();
        for inner in &summary.effects {
            let Some(place) = inner.place.as_ref().filter(|place| place.home == Some(target)) else {
                if self.is_news(inner.kind, inner.place.as_ref()) {
                    out.push(Effect { range, why: why(inner), ..inner.clone() });
                }
                continue;
            };
            let roots = given
                .entry(&place.root)
                .or_insert_with(|| self.argument_places(scope, call, receiver, target, &place.root));
            for root in roots.iter() {
                let reached = root.extend(&place.attrs);
                if !self.is_news(inner.kind, Some(&reached)) {
                    continue;
                }
                let reached =
                    Effect { kind: inner.kind, place: Some(reached), range, why: why(inner), assumed: inner.assumed };
                out.extend(Some(reached).filter(|reached| !self.is_only_read(reached)));
            }
        }
    }

    /// The places that a parameter of `target` stands for in this call.
    pub(super) fn argument_places(
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
}

fn receiver_only() -> Facts {
    Facts { mutates_receiver: true, ..Facts::default() }
}

fn has_literal_name(call: &Call) -> bool {
    call.args.get(1).is_some_and(|arg| matches!(arg.kind, ExprKind::Constant(Literal::Str(_))))
}

fn is_name(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(found) if found == name)
}

fn is_false(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Constant(Literal::False))
}
