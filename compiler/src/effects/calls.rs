//! What one call changes.

use super::extract::Extractor;
use super::iterators::is_made_anew;
use super::reason::{Does, Reason, without_builtins};
use super::receivers::method_facts;
use super::site::Site;
use super::{Effect, EffectKind};
use crate::calls::Callee;
use crate::knowledge::{Facts, Knowledge};
use crate::name::Name;
use crate::project::Denoted;
use crate::scopes::{Owner, ScopeId};
use crate::syntax::tree::{Call, Expr, ExprKind, Literal};

impl Extractor<'_, '_> {
    pub(super) fn call(&self, site: Site, out: &mut Vec<Effect>) {
        let Site { scope, call, .. } = site;
        match self.project.callee(scope, call) {
            Callee::Library(name) => self.library(site, name, out),
            Callee::Method { receiver, name } => {
                let mut facts = method_facts(self.project, scope, call, receiver, name);
                // `scaler.step(optimizer)` is a statement; `env.step(action)` is asked for what it returns.
                if name == "step" && site.result_used {
                    facts = facts.map(|known| Facts { mutates_arguments: false, ..known });
                }
                self.method(site, receiver, name, facts, out);
            }
            Callee::Methods { receiver, targets, name, sure } => {
                for &target in &targets {
                    self.summary(site, Some(receiver), target, out);
                }
                if !sure {
                    let facts = Knowledge::shipped().method(None, &name).unwrap_or_else(receiver_only);
                    self.method(site, receiver, name, Some(facts), out);
                }
            }
            Callee::Functions(targets) => targets.iter().for_each(|&target| self.summary(site, None, target, out)),
            Callee::Class(init) => init.iter().for_each(|&target| self.summary(site, None, target, out)),
            Callee::Object { object, target } => self.object(site, object, target, out),
            Callee::Variable(callee) => self.variable(site, callee, out),
        }
        self.callbacks(site, out);
    }

    fn library(&self, site: Site, name: Name, out: &mut Vec<Effect>) {
        let Site { scope, call, range, .. } = site;
        let shown = without_builtins(name);
        let Some(facts) = Knowledge::shipped().function_named(name) else {
            self.mutate_arguments(site, &Reason::call(shown, Does::Unknown), true, out);
            return;
        };
        let mut unknown = |does| out.push(Effect::new(EffectKind::Unknown, None, range, Reason::call(shown, does)));
        // `vars(args)` is a part of its argument; without one it is all local names.
        if facts.unknowable && (name != "builtins.vars" || call.args.is_empty()) {
            unknown(Does::ChangeNames);
        }
        // Those of torch put back what they changed where they are left as a context, wherever that was made; the runtime reads
        // them before and after each block.
        let may_be_context = site.in_with || site.result_used && name.as_str().starts_with("torch.");
        if facts.settings && !may_be_context {
            unknown(Does::ChangeSetting);
        }
        let sets_attribute = matches!(name.as_str(), "builtins.setattr" | "builtins.delattr");
        if sets_attribute && !has_literal_name(call) {
            unknown(Does::ComputedName);
        }
        if sets_attribute && call.args.first().is_some_and(|object| self.is_of_library(scope, object)) {
            unknown(Does::OfImported);
        }
        self.apply(site, None, facts, shown, out);
        self.advanced(site, name, out);
    }

    fn method(&self, site: Site, receiver: &Expr, name: Name, facts: Option<Facts>, out: &mut Vec<Effect>) {
        let Site { scope, range, .. } = site;
        if let Some(facts) = facts {
            self.apply(site, Some(receiver), facts, name, out);
            return;
        }
        if name == "register" && self.is_function(scope, receiver) {
            // `functools.singledispatch`: what it keeps is in no object that a checkpoint could hold
            out.push(Effect::new(EffectKind::Unknown, None, range, Reason::Registered));
        }
        let why = Reason::call(name, Does::UnknownMethod);
        for place in self.reach(scope, receiver) {
            out.push(Effect::assumed(EffectKind::Mutate, Some(place), range, why.clone()));
        }
        self.mutate_arguments(site, &why, true, out);
    }

    /// Whether an expression denotes a function of the project.
    fn is_function(&self, scope: ScopeId, expr: &Expr) -> bool {
        let Some(Denoted::Definitions(found)) = self.project.denoted(scope, expr) else { return false };
        found.iter().any(|id| matches!(self.project.scopes.list[*id].owner, Owner::Function(_)))
    }

    fn apply(&self, site: Site, receiver: Option<&Expr>, facts: Facts, name: Name, out: &mut Vec<Effect>) {
        let Site { scope, call, range, .. } = site;
        // A method that draws numbers advances the generator that it is called on.
        if let Some(receiver) = receiver.filter(|_| facts.mutates_receiver || facts.random) {
            for place in self.reach(scope, receiver) {
                let why = Reason::call(name, Does::ChangeReceiver);
                out.push(Effect::new(EffectKind::Mutate, Some(place), range, why));
            }
        }
        if facts.mutates_arguments {
            self.mutate_arguments(site, &Reason::call(name, Does::ChangeArguments), false, out);
        }
        for (applies, at, kind, does) in [
            (facts.mutates_first, 0, EffectKind::Mutate, Does::ChangeFirst),
            (facts.mutates_second, 1, EffectKind::Mutate, Does::ChangeSecond),
            (facts.mutates_third, 2, EffectKind::Mutate, Does::ChangeThird),
            (facts.consumes_first, 0, EffectKind::Consume, Does::AdvanceFirst),
        ] {
            // `all_reduce(tensor=x)`: where the first argument has a name, florc does not know which.
            let by_name = call.keywords.first().map(|(_, value)| value).filter(|_| call.args.is_empty() && at == 0);
            let is_other = |argument: &&Expr| kind != EffectKind::Consume || !is_made_anew(argument);
            let argument = call.args.get(at).or(by_name).filter(|_| applies).filter(is_other);
            let walked = argument.filter(|_| kind == EffectKind::Consume).and_then(|it| self.walked_anew(scope, it));
            if let Some(walked) = walked {
                self.iterate(scope, walked, out);
                continue;
            }
            for place in argument.into_iter().flat_map(|argument| self.reach(scope, argument)) {
                out.push(Effect::new(kind, Some(place), range, Reason::call(name, does)));
            }
        }
        self.in_place_keywords(site, receiver, name, out);
        if facts.external {
            out.push(Effect::new(EffectKind::External, None, range, Reason::call(name, Does::Speak)));
            // `print("…", file=log)`
            let names_file =
                || call.keywords.iter().any(|(keyword, _)| matches!(keyword.map(Name::as_str), Some("file") | None));
            if !facts.quiet || names_file() {
                out.push(Effect::new(EffectKind::Writes, None, range, Reason::call(name, Does::Write)));
            }
        }
    }

    /// `F.relu(x, inplace=True)` changes `x`; `torch.add(a, b, out=c)` changes `c`.
    fn in_place_keywords(&self, site: Site, receiver: Option<&Expr>, name: Name, out: &mut Vec<Effect>) {
        for (keyword, value) in &site.call.keywords {
            let target = match keyword.map(Name::as_str) {
                Some("inplace") if !is_false(value) => site.call.args.first().or(receiver),
                Some("out" | "output" | "dst" | "generator" | "random_state" | "rng") => Some(value),
                _ => None,
            };
            for place in target.into_iter().flat_map(|target| self.reach(site.scope, target)) {
                let why = Reason::call(name, Does::WorkInPlace);
                out.push(Effect::new(EffectKind::Mutate, Some(place), site.range, why));
            }
        }
    }

    fn object(&self, site: Site, object: &Expr, target: Option<ScopeId>, out: &mut Vec<Effect>) {
        if self.is_stateless(site.scope, object) {
            return;
        }
        self.handlers(site.range, out);
        if target.is_none() && self.made_from_functions(site, object, out) {
            return;
        }
        for place in self.reach(site.scope, object) {
            let why = Reason::CallsItself(place);
            out.push(Effect::new(EffectKind::Mutate, Some(place), site.range, why));
        }
        if let Some(target) = target {
            self.summary(site, Some(object), target, out);
        }
    }

    /// Whether an object was only ever made by classes known to hold no state: `nn.CrossEntropyLoss()`.
    fn is_stateless(&self, scope: ScopeId, object: &Expr) -> bool {
        let Some(values) = self.project.values_of(scope, object) else { return false };
        values.iter().all(|value| match &value.kind {
            ExprKind::Call(call) => self
                .project
                .library_name(scope, &call.callee)
                .and_then(|name| Knowledge::shipped().function_named(name))
                .is_some_and(|facts| facts.stateless),
            _ => false,
        })
    }

    /// A parameter or variable that may hold any function: it may change itself (a module does) and its arguments.
    fn variable(&self, site: Site, callee: &Expr, out: &mut Vec<Effect>) {
        self.handlers(site.range, out);
        self.lambdas(site, callee, out);
        self.made_from_functions(site, callee, out);
        for place in self.reach(site.scope, callee) {
            let why = Reason::CallsItself(place);
            out.push(Effect::assumed(EffectKind::Mutate, Some(place), site.range, why));
        }
        let mut handed = Vec::new();
        self.mutate_arguments(site, &Reason::Handed { result_used: site.result_used }, true, &mut handed);
        handed.retain(|effect| !self.is_only_read(effect));
        out.extend(handed);
    }

    fn mutate_arguments(&self, site: Site, why: &Reason, assumed: bool, out: &mut Vec<Effect>) {
        for value in site.arguments() {
            for place in self.reach(site.scope, value) {
                out.push(Effect { assumed, ..Effect::new(EffectKind::Mutate, Some(place), site.range, why.clone()) });
            }
        }
    }
}

fn receiver_only() -> Facts {
    Facts { mutates_receiver: true, ..Facts::default() }
}

fn has_literal_name(call: &Call) -> bool {
    call.args.get(1).is_some_and(|arg| matches!(arg.kind, ExprKind::Constant(Literal::Str(_))))
}

fn is_false(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Constant(Literal::False))
}
