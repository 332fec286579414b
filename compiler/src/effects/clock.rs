//! What depends on the time of day: it differs in every run, and a replay that differs only there is not wrong.
//!
//! Flow-insensitive: a name or an attribute that holds such a value once is taken to hold it always.

use super::knowledge::Knowledge;
use super::receivers::method_facts;
use crate::calls::{Callee, Project};
use crate::scopes::{Owner, ScopeId, target_names};
use crate::source::Range;
use crate::syntax::tree::{Call, Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// What depends on the clock in a project.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Statements that speak to the outside with such a value, and the file of each.
    pub statements: Vec<(usize, Range)>,
    /// Names and attributes that hold such values, without their objects.
    pub names: BTreeSet<String>,
}

struct Taint<'p, 't> {
    project: &'p Project<'t>,
    names: BTreeSet<(Option<ScopeId>, String)>,
    attributes: BTreeSet<String>,
}

impl Clock {
    /// Follows clock values through assignments, calls and containers.
    pub fn new(project: &Project) -> Self {
        let mut taint = Taint { project, names: BTreeSet::new(), attributes: BTreeSet::new() };
        loop {
            let before = (taint.names.len(), taint.attributes.len());
            taint.each_statement(&mut |taint, scope, stmt| taint.spread(scope, stmt));
            if before == (taint.names.len(), taint.attributes.len()) {
                break;
            }
        }
        let mut statements = Vec::new();
        taint.each_statement(&mut |taint, scope, stmt| {
            if let StmtKind::Expr(value) = &stmt.kind
                && taint.holds(scope, value)
            {
                statements.push((taint.project.scopes.list[scope].file, stmt.range));
            }
        });
        let mut names = taint.attributes;
        names.extend(taint.names.into_iter().map(|(_, name)| name));
        Self { statements, names }
    }
}

impl<'p, 't> Taint<'p, 't> {
    fn each_statement(&mut self, work: &mut dyn FnMut(&mut Self, ScopeId, &'t Stmt)) {
        let project = self.project;
        for (id, scope) in project.scopes.list.iter().enumerate() {
            walk::statements(scope.body, &mut |stmt| work(self, id, stmt));
        }
    }

    fn spread(&mut self, scope: ScopeId, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { targets, value } if self.holds(scope, value) => {
                targets.iter().for_each(|target| self.mark(scope, target));
            }
            StmtKind::AugAssign { target, value } | StmtKind::AnnAssign { target, value: Some(value), .. }
                if self.holds(scope, value) =>
            {
                self.mark(scope, target);
            }
            StmtKind::For(node) if self.holds(scope, &node.iter) => self.mark(scope, &node.target),
            _ => {}
        }
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                match &part.kind {
                    ExprKind::Call(call) => self.spread_call(scope, call),
                    ExprKind::Named { target, value } if self.holds(scope, value) => self.mark(scope, target),
                    ExprKind::Comprehension { clauses, .. } => {
                        for clause in clauses {
                            if self.holds(scope, &clause.iter) {
                                self.mark(scope, &clause.target);
                            }
                        }
                    }
                    _ => {}
                }
                true
            });
        }
    }

    /// `meter.update(time.time() - end)`: the receiver holds it now, and so does the parameter.
    fn spread_call(&mut self, scope: ScopeId, call: &Call) {
        let arguments: Vec<bool> = call.args.iter().map(|value| self.holds(scope, value)).collect();
        let by_keyword = call.keywords.iter().any(|(_, value)| self.holds(scope, value));
        if !by_keyword && !arguments.contains(&true) {
            return;
        }
        let (targets, receiver) = match self.project.callee(scope, call) {
            Callee::Functions(targets) => (targets, None),
            Callee::Class(init) => (init.into_iter().collect(), None),
            Callee::Methods { targets, receiver, .. } => (targets, Some(receiver)),
            Callee::Method { receiver, name } => {
                let known = method_facts(self.project, scope, call, receiver, name);
                (Vec::new(), known.is_none_or(|facts| facts.mutates_receiver).then_some(receiver))
            }
            _ => (Vec::new(), None),
        };
        if let Some(receiver) = receiver {
            self.mark(scope, receiver);
        }
        for target in targets {
            let Owner::Function(function) = self.project.scopes.list[target].owner else { continue };
            let skip = usize::from(self.project.scopes.class_of(target).is_some());
            for (param, &holds) in function.params.iter().skip(skip).zip(&arguments) {
                if holds {
                    self.names.insert((Some(target), param.name.clone()));
                }
            }
        }
    }

    fn mark(&mut self, scope: ScopeId, target: &Expr) {
        match &target.kind {
            ExprKind::Attribute { attr, .. } => {
                self.attributes.insert(attr.clone());
            }
            ExprKind::Subscript { value, .. } | ExprKind::Starred(value) => self.mark(scope, value),
            ExprKind::Display { items, .. } => items.iter().for_each(|item| self.mark(scope, item)),
            _ => {
                let mut found = Vec::new();
                target_names(target, &mut |name| found.push(name.to_owned()));
                for name in found {
                    self.names.insert((self.project.scopes.resolve(scope, &name), name));
                }
            }
        }
    }

    fn holds(&self, scope: ScopeId, expr: &Expr) -> bool {
        let mut found = false;
        walk::expressions(expr, &mut |part| {
            found |= match &part.kind {
                ExprKind::Name(name) => self.names.contains(&(self.project.scopes.resolve(scope, name), name.clone())),
                ExprKind::Attribute { attr, .. } => self.attributes.contains(attr),
                ExprKind::Call(call) => self
                    .project
                    .library_name(scope, &call.callee)
                    .and_then(|name| Knowledge::shipped().function(&name))
                    .is_some_and(|facts| facts.clock),
                _ => false,
            };
            !found
        });
        found
    }
}
