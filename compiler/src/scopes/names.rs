//! The names that an expression reads and that a statement binds.

use crate::name::Name;
use crate::source::Range;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;

/// Calls `visit` with every name of the enclosing scope that an expression reads. Parameters of lambdas and targets of
/// comprehensions are theirs alone. Names that are assignment targets do not count; those inside targets (`a[i] = …`) do.
pub fn reads(expr: &Expr, visit: &mut dyn FnMut(Name, Range)) {
    read_free(expr, &mut Vec::new(), visit);
}

/// `hidden`: the names that lambdas and comprehensions around it have for themselves.
fn read_free(expr: &Expr, hidden: &mut Vec<Name>, visit: &mut dyn FnMut(Name, Range)) {
    let around = hidden.len();
    match &expr.kind {
        ExprKind::Name(name) => {
            if !hidden.contains(name) {
                visit(*name, expr.range);
            }
        }
        ExprKind::Lambda { params, body } => {
            for default in params.iter().filter_map(|param| param.default.as_ref()) {
                read_free(default, hidden, visit);
            }
            hidden.extend(params.iter().map(|param| param.name));
            read_free(body, hidden, visit);
        }
        ExprKind::Comprehension { elements, clauses, .. } => {
            for clause in clauses {
                read_free(&clause.iter, hidden, visit);
                target_names(&clause.target, &mut |name| hidden.push(name));
                clause.conditions.iter().for_each(|condition| read_free(condition, hidden, visit));
            }
            elements.iter().for_each(|element| read_free(element, hidden, visit));
        }
        ExprKind::Named { value, .. } => read_free(value, hidden, visit),
        _ => walk::parts(expr).for_each(|part| read_free(part, hidden, visit)),
    }
    hidden.truncate(around);
}

/// The names that a target expression binds: `a, (b, *c)` binds three, `x.y` and `x[i]` none.
pub fn target_names(target: &Expr, visit: &mut dyn FnMut(Name)) {
    match &target.kind {
        ExprKind::Name(name) => visit(*name),
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
pub fn bound_names(stmt: &Stmt, visit: &mut dyn FnMut(Name)) {
    match &stmt.kind {
        StmtKind::Assign { targets, .. } | StmtKind::Delete(targets) => {
            targets.iter().for_each(|target| target_names(target, visit));
        }
        StmtKind::AugAssign { target, .. } | StmtKind::AnnAssign { target, .. } => target_names(target, visit),
        StmtKind::For(node) => target_names(&node.target, visit),
        StmtKind::With { items, .. } => {
            items.iter().filter_map(|(_, target)| target.as_ref()).for_each(|target| target_names(target, visit));
        }
        StmtKind::Function(function) => visit(function.name),
        StmtKind::Class(class) => visit(class.name),
        StmtKind::TypeAlias { name } => visit(*name),
        StmtKind::Import(imports) => imports.iter().for_each(|import| visit(import.local)),
        StmtKind::Match { cases, .. } => cases.iter().flat_map(|case| &case.binds).for_each(|name| visit(*name)),
        StmtKind::Try { handlers, .. } => {
            handlers.iter().filter_map(|handler| handler.name).for_each(&mut *visit);
        }
        _ => {}
    }
    for expr in walk::own_expressions(stmt) {
        walrus_names(expr, visit);
    }
}

/// Names bound by `:=` anywhere in an expression, in comprehensions too (they bind in the scope around them).
fn walrus_names(expr: &Expr, visit: &mut dyn FnMut(Name)) {
    walk::expressions(expr, &mut |part| {
        if let ExprKind::Named { target, .. } = &part.kind {
            target_names(target, visit);
        }
        !matches!(part.kind, ExprKind::Lambda { .. })
    });
}
