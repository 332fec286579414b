//! The names that an expression reads and that a statement binds.

use crate::source::Range;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// Calls `visit` with every name of the enclosing scope that an expression reads. Parameters of lambdas and targets of
/// comprehensions are theirs alone. Names that are assignment targets do not count; those inside targets (`a[i] = …`) do.
pub fn reads<'t>(expr: &'t Expr, visit: &mut dyn FnMut(&'t str, Range)) {
    read_free(expr, &BTreeSet::new(), visit);
}

fn read_free<'t>(expr: &'t Expr, hidden: &BTreeSet<&'t str>, visit: &mut dyn FnMut(&'t str, Range)) {
    match &expr.kind {
        ExprKind::Name(name) => {
            if !hidden.contains(name.as_str()) {
                visit(name, expr.range);
            }
        }
        ExprKind::Lambda { params, body } => {
            for default in params.iter().filter_map(|param| param.default.as_ref()) {
                read_free(default, hidden, visit);
            }
            let mut inner = hidden.clone();
            inner.extend(params.iter().map(|param| param.name.as_str()));
            read_free(body, &inner, visit);
        }
        ExprKind::Comprehension { elements, clauses, .. } => {
            let mut inner = hidden.clone();
            for clause in clauses {
                read_free(&clause.iter, &inner, visit);
                target_names(&clause.target, &mut |name| {
                    inner.insert(name);
                });
                clause.conditions.iter().for_each(|condition| read_free(condition, &inner, visit));
            }
            elements.iter().for_each(|element| read_free(element, &inner, visit));
        }
        ExprKind::Named { value, .. } => read_free(value, hidden, visit),
        _ => walk::parts(expr).into_iter().for_each(|part| read_free(part, hidden, visit)),
    }
}

/// The names that a target expression binds: `a, (b, *c)` binds three, `x.y` and `x[i]` none.
pub fn target_names<'t>(target: &'t Expr, visit: &mut dyn FnMut(&'t str)) {
    match &target.kind {
        ExprKind::Name(name) => visit(name),
        ExprKind::Display { items, .. } => items.iter().for_each(|item| target_names(item, visit)),
        ExprKind::Starred(inner) => target_names(inner, visit),
        _ => {}
    }
}

/// The targets of a statement (not of the statements inside it).
pub fn targets(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Assign { targets, .. } | StmtKind::Delete(targets) => targets.iter().collect(),
        StmtKind::AugAssign { target, .. } => vec![target],
        StmtKind::AnnAssign { target, value: Some(_), .. } => vec![target],
        StmtKind::For(node) => vec![&node.target],
        StmtKind::With { items, .. } => items.iter().filter_map(|(_, target)| target.as_ref()).collect(),
        _ => Vec::new(),
    }
}

/// Calls `visit` with every name that a statement itself binds or deletes, walrus targets included.
pub fn bound_names<'t>(stmt: &'t Stmt, visit: &mut dyn FnMut(&'t str)) {
    for target in targets(stmt) {
        target_names(target, visit);
    }
    match &stmt.kind {
        StmtKind::AnnAssign { target, value: None, .. } => target_names(target, visit),
        StmtKind::Function(function) => visit(&function.name),
        StmtKind::Class(class) => visit(&class.name),
        StmtKind::TypeAlias { name } => visit(name),
        StmtKind::Import(imports) => imports.iter().for_each(|import| visit(&import.local)),
        StmtKind::Match { cases, .. } => cases.iter().flat_map(|case| &case.binds).for_each(|name| visit(name)),
        StmtKind::Try { handlers, .. } => {
            for name in handlers.iter().filter_map(|handler| handler.name.as_deref()) {
                visit(name);
            }
        }
        _ => {}
    }
    for expr in walk::own_expressions(stmt) {
        walrus_names(expr, visit);
    }
}

/// Names bound by `:=` anywhere in an expression, in comprehensions too (they bind in the scope around them).
fn walrus_names<'t>(expr: &'t Expr, visit: &mut dyn FnMut(&'t str)) {
    walk::expressions(expr, &mut |part| {
        if let ExprKind::Named { target, .. } = &part.kind {
            target_names(target, visit);
        }
        !matches!(part.kind, ExprKind::Lambda { .. })
    });
}
