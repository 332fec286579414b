//! Functions that run without being named where they are called: handed over, wrapped, returned by another function.

use super::extract::Extractor;
use super::place::Place;
use super::reason::{Does, Reason};
use super::site::{Context, Site};
use super::{Effect, EffectKind};
use crate::calls::Callee;
use crate::knowledge::{Knowledge, List};
use crate::name::Name;
use crate::project::Denoted;
use crate::scopes::{Owner, ScopeId};
use crate::source::Range;
use crate::syntax::tree::{Call, Expr, ExprKind, StmtKind};
use crate::syntax::walk;

impl Extractor<'_, '_> {
    /// Functions that are handed over (`optimizer.step(closure)`, `map(update, models)`) are taken to be called, with
    /// whatever else is handed over.
    pub(super) fn callbacks(&self, site: Site, out: &mut Vec<Effect>) {
        let Site { scope, range, .. } = site;
        for value in site.arguments() {
            if let Some(name) = self.project.library_name(scope, value) {
                let known = Knowledge::shipped().function_named(name);
                if known.is_some_and(|facts| facts.mutates_first || facts.mutates_arguments) {
                    self.given_along(site, value, name, out);
                }
                continue;
            }
            if let ExprKind::Attribute { value: receiver, attr } = &value.kind
                && !self.takes_value(site, value, attr)
                && !self.holds_data(scope, receiver, *attr)
            {
                self.bound_method(site, receiver, *attr, out);
            }
            self.lambdas(site, value, out);
            let Some(Denoted::Definitions(found)) = self.project.denoted(scope, value) else { continue };
            for &target in found {
                let name = self.project.scopes.list[target].qualname;
                let Some(summary) = self.summary_of(target) else { continue };
                let (own, outer): (Vec<_>, Vec<_>) = summary
                    .effects
                    .iter()
                    .partition(|inner| inner.place.as_ref().is_some_and(|p| p.home == Some(target)));
                out.extend(outer.into_iter().map(|inner| Effect { range, ..inner.clone() }));
                if own.iter().any(|inner| inner.kind == EffectKind::Mutate || inner.kind == EffectKind::Bind) {
                    self.given_along(site, value, name, out);
                }
            }
        }
    }

    /// A call of nobody knows what may run any function that is ever handed over or stored: a callback in a table, a hook
    /// of a module. What such a function does to its arguments is not known here.
    pub(super) fn handlers(&self, range: Range, out: &mut Vec<Effect>) {
        out.extend(self.handled().iter().map(|inner| Effect { range, ..inner.clone() }));
    }

    /// What a callback that changes its arguments may be called with: the receiver and the other arguments.
    fn given_along(&self, site: Site, callback: &Expr, name: Name, out: &mut Vec<Effect>) {
        for value in site.arguments().filter(|value| value.range != callback.range).chain(site.receiver()) {
            for place in self.reach(site.scope, value) {
                let why = Reason::call(name, Does::TakeIt);
                out.push(Effect::new(EffectKind::Mutate, Some(place), site.range, why));
            }
        }
    }

    /// `map(log.append, rows)`: a method that is handed over is taken to be called.
    fn bound_method(&self, site: Site, receiver: &Expr, attr: Name, out: &mut Vec<Effect>) {
        if Knowledge::shipped().method(None, &attr).is_some_and(|facts| facts.mutates_receiver) {
            for place in self.reach(site.scope, receiver) {
                let why = Reason::call(attr, Does::ChangeReceiver);
                out.push(Effect::new(EffectKind::Mutate, Some(place), site.range, why));
            }
        }
        self.implicit(site.scope, receiver, &[&attr], out);
    }

    /// Whether a call takes this attribute as a value and does not call it: `print(trainer.step)`,
    /// `np.log(kmeans.inertia_)`, which is no in-place method of PyTorch.
    fn takes_value(&self, site: Site, value: &Expr, attr: &str) -> bool {
        match self.project.callee(site.scope, site.call) {
            Callee::Library(name) => match name.strip_prefix("builtins.") {
                // `sorted(rows, key=seen.add)`
                Some(_) => {
                    !Knowledge::shipped().lists(List::CallsArguments, &name)
                        && site.call.args.iter().any(|arg| arg.range == value.range)
                }
                None => attr.ends_with('_') && name.starts_with("numpy."),
            },
            Callee::Method { name, .. } => matches!(name.as_str(), "format" | "info" | "debug" | "warning"),
            _ => false,
        }
    }

    /// Whether an attribute was given a number or a text: `self.step = 0`.
    fn holds_data(&self, scope: ScopeId, receiver: &Expr, attr: Name) -> bool {
        let Some(class) = self.project.class_of_value(scope, receiver) else { return false };
        let values = self.project.index.attributes.get(class, attr);
        self.project.method(class, attr).is_none()
            && values.is_some_and(|values| values.iter().any(|value| is_number_or_text(value)))
    }

    /// A name that holds a lambda: what its body does.
    pub(super) fn lambdas(&self, site: Site, callee: &Expr, out: &mut Vec<Effect>) {
        let ExprKind::Name(name) = &callee.kind else { return };
        let Some(home) = self.project.scopes.resolve(site.scope, *name) else { return };
        let Some(lambdas) = site.lambdas.checked_sub(1) else { return };
        for value in self.project.index.assigned.get(home, *name).into_iter().flatten() {
            if let ExprKind::Lambda { body, .. } = &value.kind {
                self.expression(Context { lambdas, ..Context::new(home, None) }, body, out);
            }
        }
    }

    /// An object that was made from a function of the project: `partial(train_step, net)`, `torch.compile(f)`, or what
    /// `make_train_step(net, optimizer)` returns. Says whether that is all that can stand there.
    pub(super) fn made_from_functions(&self, site: Site, object: &Expr, out: &mut Vec<Effect>) -> bool {
        let scope = site.scope;
        let values = self.project.values_of(scope, object).map_or(&[][..], Vec::as_slice);
        let mut all = !values.is_empty();
        for value in values {
            let ExprKind::Call(maker) = &value.kind else {
                all = false;
                continue;
            };
            all &= match self.project.callee(scope, maker) {
                Callee::Library(name) => self.wrapped(site, maker, name, out),
                Callee::Functions(targets) | Callee::Methods { targets, .. } => {
                    let known: Vec<bool> =
                        targets.iter().map(|&target| self.returned(site, maker, target, out)).collect();
                    !known.contains(&false)
                }
                _ => false,
            };
        }
        all
    }

    /// What `partial(f, a)(b)` and `torch.compile(f)(b)` do is what `f` does.
    fn wrapped(&self, site: Site, maker: &Call, name: Name, out: &mut Vec<Effect>) -> bool {
        let Some(function) = maker.args.first() else { return false };
        let bound = if name == "functools.partial" { &maker.args[1..] } else { &[] };
        let whole = Call {
            callee: function.clone(),
            args: bound.iter().chain(&site.call.args).cloned().collect(),
            keywords: maker.keywords.iter().chain(&site.call.keywords).cloned().collect(),
        };
        let (targets, receiver) = match self.project.callee(site.scope, &whole) {
            Callee::Functions(targets) => (targets, None),
            Callee::Methods { targets, receiver, .. } => (targets, Some(receiver)),
            _ => return false,
        };
        targets.iter().for_each(|&target| self.summary(site.with(&whole), receiver, target, out));
        true
    }

    /// What a function that `maker` returns does: its effects on the parameters of `maker` are effects on what these
    /// were given; other variables of `maker` cannot be reached from outside.
    fn returned(&self, site: Site, maker: &Call, target: ScopeId, out: &mut Vec<Effect>) -> bool {
        if site.lambdas == 0 {
            return false;
        }
        let inner_functions = self.functions_returned(target);
        let made = site.with(maker);
        let mut inside = Vec::new();
        for &returned in &inner_functions {
            self.summary(site, None, returned, &mut inside);
        }
        for inner in inside {
            let Some(place) = inner.place.filter(|place| place.home == Some(target)) else {
                out.push(inner);
                continue;
            };
            let is_param = self.project.scopes.list[target].params().any(|param| param == place.root);
            let own = |place: &Place| place.home == Some(target);
            let roots = if is_param { vec![place] } else { self.aliases.all(&place, &own) };
            let mut found = false;
            for root in roots {
                for reached in self.argument_places(made, made.receiver(), target, root.root) {
                    found = true;
                    out.push(Effect { place: Some(reached.extend(&root.attrs)), ..inner.clone() });
                }
            }
            if !is_param && !found && inner.kind != EffectKind::Iterate {
                out.push(Effect::new(EffectKind::Unknown, None, site.range, Reason::OutOfSight(place)));
            }
        }
        !inner_functions.is_empty()
    }

    /// The functions defined inside a function that it returns by name.
    fn functions_returned(&self, target: ScopeId) -> Vec<ScopeId> {
        let scope = &self.project.scopes.list[target];
        let mut found = Vec::new();
        walk::statements(scope.body, &mut |stmt| {
            let StmtKind::Return(Some(value)) = &stmt.kind else { return };
            walk::expressions(value, &mut |part| {
                if let ExprKind::Name(name) = &part.kind {
                    found.extend(self.project.index.definitions.get(target, *name).into_iter().flatten().copied());
                }
                !matches!(part.kind, ExprKind::Call(_))
            });
        });
        found.retain(|&id| matches!(self.project.scopes.list[id].owner, Owner::Function(_)));
        found
    }
}

fn is_number_or_text(value: &Expr) -> bool {
    use crate::syntax::tree::Literal;
    matches!(value.kind, ExprKind::Constant(Literal::Number | Literal::Str(_) | Literal::True | Literal::False))
}
