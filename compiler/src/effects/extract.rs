//! A statement to its effects.

use super::alias::{Aliases, places};
use super::met::Met;
use super::place::Place;
use super::reason::Reason;
use super::site::{Context, Site};
use super::summary::{Summaries, Summary};
use super::{Effect, EffectKind};
use crate::name::Name;
use crate::project::{Denoted, Project};
use crate::scopes::{ScopeId, target_names};
use crate::source::Range;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Reads effects off statements, given what is known of the project.
#[derive(Debug)]
pub struct Extractor<'p, 't> {
    /// The project.
    pub project: &'p Project<'t>,
    /// Its aliases.
    pub aliases: &'p Aliases,
    /// What its functions change, as far as it is known yet.
    pub summaries: &'p Summaries,
    /// While a function is summarized: what is known of it already. Large programs say everything a thousand times.
    met: Option<&'p RefCell<Met>>,
    /// By the scope that owns a name, and the name: see [`Extractor::only_walks`].
    pub(super) walks: RefCell<FxHashMap<(ScopeId, Name), bool>>,
}

impl<'p, 't> Extractor<'p, 't> {
    /// An extractor that says every effect of every statement.
    pub fn new(project: &'p Project<'t>, aliases: &'p Aliases, summaries: &'p Summaries) -> Self {
        Self { project, aliases, summaries, met: None, walks: RefCell::default() }
    }

    /// An extractor that says what calls of the project do once.
    pub(super) fn terse(
        project: &'p Project<'t>,
        aliases: &'p Aliases,
        summaries: &'p Summaries,
        met: &'p RefCell<Met>,
    ) -> Self {
        Self { met: Some(met), ..Self::new(project, aliases, summaries) }
    }

    /// Whether this has not been said yet.
    pub(super) fn is_news(&self, kind: EffectKind, place: Place) -> bool {
        self.met.is_none_or(|met| {
            let mut met = met.borrow_mut();
            let number = met.number(kind, Some(place));
            met.news.insert(number)
        })
    }

    /// The same of an effect of a summary, by its number.
    pub(super) fn is_new_number(&self, number: u32) -> bool {
        self.met.is_none_or(|met| met.borrow_mut().news.insert(number))
    }

    /// The summary of a function.
    pub(super) fn summary_of(&self, function: ScopeId) -> Option<&'p Summary> {
        if let Some(met) = self.met {
            met.borrow_mut().asked.functions.push(function);
        }
        self.summaries.get(function)
    }

    /// Whether all effects of a function are said that are not on its arguments; from now on they are.
    pub(super) fn is_said(&self, function: ScopeId) -> bool {
        self.met.is_some_and(|met| !met.borrow_mut().functions.insert(function))
    }

    /// What handlers do to other objects than their arguments.
    pub(super) fn handled(&self) -> &'p [Effect] {
        if let Some(met) = self.met {
            met.borrow_mut().asked.handlers = true;
        }
        &self.summaries.handlers
    }

    /// The effects of every statement of a suite, in source order.
    pub fn suite(&self, scope: ScopeId, suite: &[Stmt]) -> Vec<Effect> {
        let mut out = Vec::new();
        walk::statements(suite, &mut |stmt| self.statement(scope, stmt, &mut out));
        out
    }

    /// The effects that a statement itself has (not those of the statements inside it).
    pub fn statement(&self, scope: ScopeId, stmt: &Stmt, out: &mut Vec<Effect>) {
        let dropped = match &stmt.kind {
            StmtKind::Expr(value) => Some(value.range),
            _ => None,
        };
        for expr in walk::own_expressions(stmt) {
            let in_with = matches!(stmt.kind, StmtKind::With { .. });
            self.expression(Context { in_with, ..Context::new(scope, dropped) }, expr, out);
        }
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.iter().for_each(|target| self.target(scope, target, out)),
            StmtKind::AnnAssign { target, value: Some(_), .. } => self.target(scope, target, out),
            StmtKind::AugAssign { target, .. } => {
                self.target(scope, target, out);
                for place in self.reach(scope, target) {
                    out.push(Effect::new(EffectKind::Mutate, Some(place), stmt.range, Reason::Augmented));
                }
            }
            StmtKind::For(node) => {
                self.target(scope, &node.target, out);
                self.iterate(scope, &node.iter, out);
            }
            StmtKind::With { items, .. } => {
                for (object, _) in items {
                    self.implicit(scope, object, &["__enter__", "__exit__"], out);
                }
                items
                    .iter()
                    .filter_map(|(_, target)| target.as_ref())
                    .for_each(|target| self.target(scope, target, out));
            }
            StmtKind::Delete(targets) => targets.iter().for_each(|target| self.delete(scope, target, out)),
            _ => self.other_bindings(scope, stmt, out),
        }
    }

    fn other_bindings(&self, scope: ScopeId, stmt: &Stmt, out: &mut Vec<Effect>) {
        crate::scopes::bound_names(stmt, &mut |name| self.bind(scope, name, stmt.range, out));
    }

    pub(super) fn expression(&self, context: Context, expr: &Expr, out: &mut Vec<Effect>) {
        let scope = context.scope;
        walk::expressions(expr, &mut |part| {
            match &part.kind {
                ExprKind::Call(call) => self.call(Site::new(context, call, part.range), out),
                ExprKind::Named { target, .. } => self.target(scope, target, out),
                ExprKind::Comprehension { clauses, .. } => {
                    clauses.iter().for_each(|clause| self.iterate(scope, &clause.iter, out));
                }
                ExprKind::Attribute { value, attr } if self.project.is_property(*attr) => {
                    self.read_property(scope, value, *attr, out);
                }
                ExprKind::Subscript { value, .. } => self.implicit(scope, value, &["__getitem__"], out),
                _ => {}
            }
            true
        });
    }

    pub(super) fn iterate(&self, scope: ScopeId, iter: &Expr, out: &mut Vec<Effect>) {
        self.implicit(scope, iter, &["__iter__", "__next__", "__getitem__"], out);
        for place in self.reach(scope, iter) {
            out.push(Effect::new(EffectKind::Iterate, Some(place), iter.range, Reason::Iterated));
        }
    }

    fn target(&self, scope: ScopeId, target: &Expr, out: &mut Vec<Effect>) {
        match &target.kind {
            ExprKind::Name(name) => self.bind(scope, *name, target.range, out),
            ExprKind::Display { items, .. } => items.iter().for_each(|item| self.target(scope, item, out)),
            ExprKind::Starred(inner) => self.target(scope, inner, out),
            ExprKind::Attribute { value, attr } if self.project.is_property(*attr) => {
                for place in self.reach(scope, value) {
                    let why = Reason::PropertyAssigned { attr: *attr, of: place };
                    out.push(Effect::new(EffectKind::Mutate, Some(place), target.range, why));
                }
                self.implicit(scope, value, &[attr], out);
            }
            ExprKind::Attribute { value, .. }
                if matches!(self.project.denoted(scope, value), Some(Denoted::Module(_)))
                    || self.is_of_library(scope, value) =>
            {
                for place in self.reach(scope, target) {
                    let why = Reason::Bound(place);
                    // imported by a function: to others that name is nothing
                    let is_seen = place.home.is_none_or(|home| self.project.scopes.list[home].parent.is_none());
                    let found = Effect::new(EffectKind::Bind, Some(place), target.range, why);
                    out.push(if is_seen { found } else { Effect { kind: EffectKind::Unknown, place: None, ..found } });
                }
            }
            ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. }
                if self.is_of_a_call(scope, value) =>
            {
                out.push(Effect::new(EffectKind::Unknown, None, target.range, Reason::ResultChanged));
            }
            ExprKind::Attribute { value, attr } => {
                for place in self.reach(scope, value) {
                    let whole = place.attr(*attr);
                    // `p.data = …` gives the object new data: it changes in place.
                    let kind = if whole == place { EffectKind::Mutate } else { EffectKind::Bind };
                    let why = Reason::Assigned(whole);
                    out.push(Effect::new(kind, Some(whole), target.range, why));
                }
                if let Some(class) = self.class_object(scope, value) {
                    let why = Reason::ClassAttribute(class);
                    out.push(Effect::new(EffectKind::Unknown, None, target.range, why));
                }
            }
            ExprKind::Subscript { value, .. } => {
                self.implicit(scope, value, &["__setitem__"], out);
                for place in self.reach(scope, value) {
                    out.push(Effect::new(EffectKind::Mutate, Some(place), target.range, Reason::ItemAssigned));
                }
            }
            _ => {}
        }
    }

    fn delete(&self, scope: ScopeId, target: &Expr, out: &mut Vec<Effect>) {
        if let ExprKind::Attribute { value, attr } = &target.kind
            && self.project.is_property(*attr)
        {
            self.implicit(scope, value, &[attr], out);
        }
        let (object, why) = match &target.kind {
            ExprKind::Subscript { value, .. } => (value.as_ref(), Reason::ItemDeleted),
            ExprKind::Attribute { value, .. } if self.is_of_library(scope, value) => {
                out.push(Effect::new(EffectKind::Unknown, None, target.range, Reason::ImportedAttributeDeleted));
                return;
            }
            ExprKind::Attribute { value, .. } => (value.as_ref(), Reason::AttributeDeleted),
            _ => {
                target_names(target, &mut |name| {
                    let place = Place::name(self.project.scopes.resolve(scope, name), name);
                    let why = Reason::Deleted(place);
                    out.push(Effect::new(EffectKind::Unbind, Some(place), target.range, why));
                });
                return;
            }
        };
        for place in self.reach(scope, object) {
            out.push(Effect::new(EffectKind::Mutate, Some(place), target.range, why.clone()));
        }
    }

    /// Whether an expression is what a call returned, or a part of it, and no place is known for that: `decimal.getcontext()`.
    /// To change an object that is gone afterwards would do nothing, so it lives somewhere.
    fn is_of_a_call(&self, scope: ScopeId, expr: &Expr) -> bool {
        let mut root = expr;
        while let ExprKind::Attribute { value, .. } | ExprKind::Subscript { value, .. } = &root.kind {
            root = value;
        }
        matches!(root.kind, ExprKind::Call(_)) && self.reach(scope, expr).is_empty()
    }

    /// Whether an expression is a name that was imported from a library: `sys`, `np`, and no place of its own.
    pub(super) fn is_of_library(&self, scope: ScopeId, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Name(_))
            && self.project.denoted(scope, expr).is_none()
            && self.project.library_name(scope, expr).is_some_and(|name| !name.starts_with("builtins."))
    }

    fn bind(&self, scope: ScopeId, name: Name, range: Range, out: &mut Vec<Effect>) {
        let place = Place::name(self.project.scopes.resolve(scope, name), name);
        let why = Reason::Bound(place);
        out.push(Effect::new(EffectKind::Bind, Some(place), range, why));
    }

    /// The places that an expression's value may be or be part of.
    pub(super) fn reach(&self, scope: ScopeId, expr: &Expr) -> Vec<Place> {
        places(self.project, scope, expr)
    }

    /// The name of a class of the project, when the expression denotes the class itself.
    fn class_object(&self, scope: ScopeId, expr: &Expr) -> Option<Name> {
        let class = self.project.class_denoted(scope, expr)?;
        Some(self.project.scopes.list[class].qualname)
    }
}
