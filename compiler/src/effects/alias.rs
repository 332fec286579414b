//! Which places a name may share its object with: `for p in net.parameters()` makes `p` a part of `net`.
//!
//! Flow-insensitive within a scope: an alias that holds at one point is taken to hold at all.

use super::place::Place;
use super::receivers::method_facts;
use super::{Effect, EffectKind};
use crate::calls::{Callee, is_super};
use crate::knowledge::Knowledge;
use crate::name::Name;
use crate::project::{Denoted, Project};
use crate::scopes::{ScopeId, is_builtin, target_names};
use crate::syntax::tree::{Call, Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// Sources of each name, by the scope that owns it.
#[derive(Debug, Default)]
pub struct Aliases {
    /// Sorted.
    sources: FxHashMap<(Option<ScopeId>, Name), Vec<Place>>,
    /// Targets of `for`, in statements and comprehensions.
    targets: FxHashSet<(Option<ScopeId>, Name)>,
}

impl Aliases {
    /// Collects the aliases of a file.
    pub fn new(project: &Project) -> Self {
        let mut aliases = Aliases::default();
        for (id, scope) in project.scopes.list.enumerated() {
            walk::statements(scope.body, &mut |stmt| aliases.statement(project, id, stmt));
        }
        aliases.sources.values_mut().for_each(arrange);
        aliases
    }

    fn statement(&mut self, project: &Project, scope: ScopeId, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                targets.iter().for_each(|target| self.assign(project, scope, target, value));
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => self.assign(project, scope, target, value),
            StmtKind::For(node) => self.iterate(project, scope, &node.target, &node.iter),
            StmtKind::With { items, .. } => {
                for (value, target) in items {
                    target.iter().for_each(|target| self.assign(project, scope, target, value));
                }
            }
            _ => {}
        }
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                match &part.kind {
                    ExprKind::Named { target, value } => self.assign(project, scope, target, value),
                    ExprKind::Call(call) => self.lambdas(project, scope, call),
                    ExprKind::Comprehension { clauses, .. } => {
                        clauses.iter().for_each(|clause| self.iterate(project, scope, &clause.target, &clause.iter));
                    }
                    _ => {}
                }
                true
            });
        }
    }

    fn iterate(&mut self, project: &Project, scope: ScopeId, target: &Expr, iter: &Expr) {
        self.assign(project, scope, target, iter);
        target_names(target, &mut |name| {
            self.targets.insert((project.scopes.resolve(scope, name), name));
        });
    }

    /// Whether a name holds, or is made from, what some loop takes out of what it iterates over: a batch of a loader.
    pub fn is_element(&self, place: &Place) -> bool {
        self.is_element_within(place, 4)
    }

    fn is_element_within(&self, place: &Place, fuel: usize) -> bool {
        let key = (place.home, place.root);
        let Some(fuel) = fuel.checked_sub(1) else { return false };
        self.targets.contains(&key)
            || self.sources.get(&key).into_iter().flatten().any(|source| self.is_element_within(source, fuel))
    }

    /// `map(lambda p: p.zero_(), net.parameters())`: a lambda is called with what is handed over beside it.
    fn lambdas(&mut self, project: &Project, scope: ScopeId, call: &Call) {
        let values: Vec<&Expr> = call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)).collect();
        for lambda in &values {
            let ExprKind::Lambda { params, .. } = &lambda.kind else { continue };
            let others = values.iter().filter(|value| value.range != lambda.range).copied();
            let receiver = match &call.callee.kind {
                ExprKind::Attribute { value, .. } => Some(value.as_ref()),
                _ => None,
            };
            let sources: Vec<Place> = others.chain(receiver).flat_map(|value| places(project, scope, value)).collect();
            for param in params {
                let key = (project.scopes.resolve(scope, param.name), param.name);
                self.sources.entry(key).or_default().extend(&sources);
            }
        }
    }

    fn assign(&mut self, project: &Project, scope: ScopeId, target: &Expr, value: &Expr) {
        match (&target.kind, &value.kind) {
            (ExprKind::Name(name), _) => {
                let home = project.scopes.resolve(scope, *name);
                let own = Place::name(home, *name);
                let sources = places(project, scope, value).into_iter().filter(|place| !own.covers(place));
                self.sources.entry((home, own.root)).or_default().extend(sources);
            }
            (ExprKind::Display { items: left, .. }, ExprKind::Display { items: right, is_tuple_or_list: true })
                if left.len() == right.len() =>
            {
                left.iter().zip(right).for_each(|(target, value)| self.assign(project, scope, target, value));
            }
            (ExprKind::Display { items, .. }, _) => {
                items.iter().for_each(|item| self.assign(project, scope, item, value));
            }
            (ExprKind::Starred(inner), _) => self.assign(project, scope, inner, value),
            _ => {}
        }
    }

    /// Whether the file says somewhere what the name stands for.
    pub fn knows(&self, place: &Place) -> bool {
        self.sources.contains_key(&(place.home, place.root))
    }

    /// Every place that may hold the same object as `place`, itself included. Only names that `is_local` says mean
    /// nothing by themselves are followed further.
    pub fn all(&self, place: &Place, is_local: &dyn Fn(&Place) -> bool) -> Vec<Place> {
        let mut found = vec![*place];
        let mut todo = vec![*place];
        while let Some(at) = todo.pop() {
            if !is_local(&at) {
                continue;
            }
            let Some(sources) = self.sources.get(&(at.home, at.root)) else { continue };
            for source in sources {
                let reached = source.extend(&at.attrs);
                // The cap keeps `node = node.next` from growing for ever.
                if found.len() < 64 && !found.contains(&reached) {
                    found.push(reached);
                    todo.push(reached);
                }
            }
        }
        arrange(&mut found);
        found
    }
}

/// An effect on an object that only a local name reaches is an effect on whatever that name may stand for.
pub(super) fn spread(
    aliases: &Aliases,
    effect: Effect,
    is_local: &dyn Fn(&Place) -> bool,
    visit: &mut dyn FnMut(Effect),
) {
    let changes_object = matches!(effect.kind, EffectKind::Mutate | EffectKind::Iterate | EffectKind::Consume)
        || effect.place.as_ref().is_some_and(|place| !place.attrs.is_empty());
    match &effect.place {
        Some(place) if changes_object && aliases.knows(place) && is_local(place) => {
            for place in aliases.all(place, is_local) {
                visit(Effect { place: Some(place), ..effect.clone() });
            }
        }
        _ => visit(effect),
    }
}

/// The places whose objects an expression's value may be, or be a part of.
pub(super) fn places(project: &Project, scope: ScopeId, expr: &Expr) -> Vec<Place> {
    let mut out = Vec::new();
    collect(project, scope, expr, &mut out);
    arrange(&mut out);
    out
}

/// Sorted, each once.
pub(super) fn arrange(places: &mut Vec<Place>) {
    places.sort_unstable();
    places.dedup();
}

fn collect(project: &Project, scope: ScopeId, expr: &Expr, out: &mut Vec<Place>) {
    match project.denoted(scope, expr) {
        Some(Denoted::Variable(home, name)) => {
            out.push(Place::name(Some(home), name));
            return;
        }
        Some(_) => return,
        None => {}
    }
    match &expr.kind {
        ExprKind::Name(name) => {
            let home = project.scopes.resolve(scope, *name);
            let is_definition = home.is_none_or(|home| {
                let index = &project.index;
                let named = index.definitions.contains(home, *name) || index.imports.contains(home, *name);
                named && !index.variables.contains(home, *name)
            });
            // A name that no scope binds is a builtin, a star import's, or local to a comprehension.
            let is_builtin = home.is_none() && is_builtin(*name);
            if !is_builtin && (home.is_none() || !is_definition) {
                out.push(Place::name(home, *name));
            }
        }
        ExprKind::Attribute { value, attr } => {
            let mut inner = Vec::new();
            if let Some(Denoted::Module(module)) = project.denoted(scope, value) {
                // A name that the module does not bind itself, yet.
                out.extend(project.module_scope(module).map(|home| Place::name(Some(home), *attr)));
                return;
            }
            collect(project, scope, value, &mut inner);
            // An attribute of an imported module of the project, or of a class, is a place too.
            if inner.is_empty()
                && project.library_name(scope, value).is_some_and(|name| !name.starts_with("builtins."))
                && let ExprKind::Name(name) = &value.kind
            {
                inner.push(Place::name(project.scopes.resolve(scope, *name), *name));
            }
            // What a property yields is found inside its object, and must not be asked for in passing.
            let computed = project.is_property(*attr);
            out.extend(inner.into_iter().map(|place| if computed { place } else { place.attr(*attr) }));
        }
        ExprKind::Subscript { value, .. } | ExprKind::Starred(value) | ExprKind::Await(value) => {
            collect(project, scope, value, out);
        }
        ExprKind::Named { value, .. } => collect(project, scope, value, out),
        ExprKind::Choice(parts) => parts.iter().for_each(|part| collect(project, scope, part, out)),
        ExprKind::Display { items, .. } => items.iter().for_each(|item| collect(project, scope, item, out)),
        ExprKind::Comprehension { elements, clauses, .. } => {
            elements.iter().for_each(|element| collect(project, scope, element, out));
            clauses.iter().for_each(|clause| collect(project, scope, &clause.iter, out));
        }
        ExprKind::Call(call) => collect_call(project, scope, call, out),
        _ => {}
    }
}

/// What a call returns may be its receiver or its arguments, unless it is known to be new.
fn collect_call(project: &Project, scope: ScopeId, call: &Call, out: &mut Vec<Place>) {
    let known = Knowledge::shipped();
    if is_super(call) {
        out.extend(project.scopes.self_name(scope).map(|itself| Place::name(Some(scope), itself)));
        return;
    }
    let (receiver, arguments) = match project.callee(scope, call) {
        Callee::Library(name) => match known.function_named(name) {
            Some(facts) => (None, facts.returns_arguments || facts.mutates_first),
            None => (None, true),
        },
        Callee::Method { receiver, name } => match method_facts(project, scope, call, receiver, name) {
            Some(facts) => (facts.returns_receiver.then_some(receiver), false),
            None => (Some(receiver), false),
        },
        Callee::Methods { receiver, .. } => (Some(receiver), true),
        Callee::Object { object, .. } | Callee::Variable(object) => (Some(object), false),
        Callee::Class(_) | Callee::Functions(_) => (None, true),
    };
    receiver.into_iter().for_each(|receiver| collect(project, scope, receiver, out));
    if arguments {
        for value in call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)) {
            collect(project, scope, value, out);
        }
    }
}
