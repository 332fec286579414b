//! What the text of one scope says about names, read once: a project with thousands of loops asks as often.

use super::{bound_names, target_names};
use crate::ids::StmtId;
use crate::name::Name;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names in the statements of a scope.
#[derive(Clone, Debug, Default)]
pub struct ScopeText {
    mentioned: FxHashSet<Name>,
    bound_at_top: FxHashSet<Name>,
    declared_global: FxHashMap<Name, StmtId>,
}

impl ScopeText {
    pub(super) fn new(body: &[Stmt]) -> Self {
        let mut text = Self::default();
        walk::statements(body, &mut |stmt| {
            for expr in walk::own_expressions(stmt) {
                text.mention(expr, &mut Vec::new());
            }
            if let StmtKind::Global(names) = &stmt.kind {
                for name in names {
                    text.declared_global.entry(*name).or_insert(stmt.id);
                }
            }
        });
        for stmt in body {
            if !matches!(stmt.kind, StmtKind::For(_) | StmtKind::Match { .. } | StmtKind::Try { .. }) {
                bound_names(stmt, &mut |name| {
                    text.bound_at_top.insert(name);
                });
            }
        }
        text
    }

    /// Whether the scope's own statements name it, outside comprehensions and lambdas that have such a name of their own.
    pub fn mentions(&self, name: Name) -> bool {
        self.mentioned.contains(&name)
    }

    /// Whether a statement at its top level binds it, not under a condition.
    pub fn binds_at_top(&self, name: Name) -> bool {
        self.bound_at_top.contains(&name)
    }

    /// The number of the first statement that declares it `global`.
    pub fn declares_global(&self, name: Name) -> Option<StmtId> {
        self.declared_global.get(&name).copied()
    }

    /// `hidden`: names that the comprehensions and lambdas around the expression have for themselves.
    fn mention(&mut self, expr: &Expr, hidden: &mut Vec<Name>) {
        if let ExprKind::Name(name) = &expr.kind
            && !hidden.contains(name)
        {
            self.mentioned.insert(*name);
        }
        let around = hidden.len();
        own_names(expr, &mut |name| hidden.push(name));
        for part in walk::parts(expr) {
            self.mention(part, hidden);
        }
        hidden.truncate(around);
    }
}

/// The names that a comprehension or a lambda has for itself.
pub fn own_names(expr: &Expr, see: &mut dyn FnMut(Name)) {
    match &expr.kind {
        ExprKind::Comprehension { clauses, .. } => {
            clauses.iter().for_each(|clause| target_names(&clause.target, &mut *see));
        }
        ExprKind::Lambda { params, .. } => params.iter().for_each(|param| see(param.name)),
        _ => {}
    }
}
