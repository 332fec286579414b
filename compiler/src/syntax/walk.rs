//! One way to walk the tree, used by every analysis.

use super::tree::{Expr, ExprKind, Module, Param, Stmt, StmtKind};

/// The suites directly inside a statement, in source order. Bodies of functions and classes are not among them.
pub fn suites(stmt: &Stmt) -> Vec<&[Stmt]> {
    match &stmt.kind {
        StmtKind::For(node) => vec![&node.body, &node.orelse],
        StmtKind::While { body, orelse, .. } | StmtKind::If { body, orelse, .. } => vec![body, orelse],
        StmtKind::With { body, .. } => vec![body],
        StmtKind::Match { cases, .. } => cases.iter().map(|case| case.body.as_slice()).collect(),
        StmtKind::Try { body, handlers, orelse, finalbody } => {
            let mut out: Vec<&[Stmt]> = vec![body];
            out.extend(handlers.iter().map(|handler| handler.body.as_slice()));
            out.push(orelse);
            out.push(finalbody);
            out
        }
        _ => Vec::new(),
    }
}

/// The same, of a function or a class its body.
pub fn all_suites(stmt: &Stmt) -> Vec<&[Stmt]> {
    match &stmt.kind {
        StmtKind::Function(function) => vec![&function.body],
        StmtKind::Class(class) => vec![&class.body],
        _ => suites(stmt),
    }
}

/// Calls `visit` on every statement of a suite and of the suites inside it, in source order, staying in this scope:
/// definitions are visited, their bodies are not.
pub fn statements<'t>(suite: &'t [Stmt], visit: &mut dyn FnMut(&'t Stmt)) {
    for stmt in suite {
        visit(stmt);
        for inner in suites(stmt) {
            statements(inner, visit);
        }
    }
}

/// Calls `visit` on every statement of the file, bodies of functions and classes included.
pub fn all_statements<'t>(module: &'t Module, visit: &mut dyn FnMut(&'t Stmt)) {
    deep(&module.body, visit);
}

/// The same of one statement, itself included.
pub fn all_of<'t>(stmt: &'t Stmt, visit: &mut dyn FnMut(&'t Stmt)) {
    deep(std::slice::from_ref(stmt), visit);
}

fn deep<'t>(suite: &'t [Stmt], visit: &mut dyn FnMut(&'t Stmt)) {
    statements(suite, &mut |stmt| {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Function(function) => deep(&function.body, visit),
            StmtKind::Class(class) => deep(&class.body, visit),
            _ => {}
        }
    });
}

/// The expressions that a statement itself evaluates (not those of the statements inside it), targets included.
pub fn own_expressions(stmt: &Stmt) -> Vec<&Expr> {
    match &stmt.kind {
        StmtKind::Function(function) => {
            let mut out: Vec<&Expr> = function.decorators.iter().collect();
            out.extend(param_expressions(&function.params));
            out.extend(&function.returns);
            out
        }
        StmtKind::Class(class) => class.decorators.iter().chain(&class.bases).collect(),
        StmtKind::Return(value) => value.iter().collect(),
        StmtKind::Delete(targets) => targets.iter().collect(),
        StmtKind::Assign { targets, value } => std::iter::once(value).chain(targets).collect(),
        StmtKind::AugAssign { target, value } => vec![value, target],
        StmtKind::AnnAssign { target, annotation, value } => value.iter().chain([target, annotation]).collect(),
        StmtKind::For(node) => vec![&node.iter, &node.target],
        StmtKind::While { test, .. } | StmtKind::If { test, .. } => vec![test],
        StmtKind::With { items, .. } => {
            items.iter().flat_map(|(value, target)| std::iter::once(value).chain(target)).collect()
        }
        StmtKind::Match { subject, cases } => std::iter::once(subject)
            .chain(cases.iter().flat_map(|case| case.values.iter().chain(&case.guard)))
            .collect(),
        StmtKind::Raise(values) | StmtKind::Assert(values) => values.iter().collect(),
        StmtKind::Try { handlers, .. } => handlers.iter().filter_map(|handler| handler.kind.as_ref()).collect(),
        StmtKind::Expr(value) => vec![value],
        _ => Vec::new(),
    }
}

fn param_expressions(params: &[Param]) -> impl Iterator<Item = &Expr> {
    params.iter().flat_map(|param| param.default.iter().chain(&param.annotation))
}

/// The direct parts of an expression, in evaluation order.
pub fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Constant(_) | ExprKind::Yield(None) => Vec::new(),
        ExprKind::Attribute { value, .. }
        | ExprKind::Starred(value)
        | ExprKind::Await(value)
        | ExprKind::Yield(Some(value)) => vec![value],
        ExprKind::Subscript { value, index } => vec![value, index],
        ExprKind::Call(call) => std::iter::once(&call.callee)
            .chain(&call.args)
            .chain(call.keywords.iter().map(|(_, value)| value))
            .collect(),
        ExprKind::Operation(parts) | ExprKind::Choice(parts) => parts.iter().collect(),
        ExprKind::Display { items, .. } => items.iter().collect(),
        ExprKind::Comprehension { elements, clauses, .. } => clauses
            .iter()
            .flat_map(|clause| [&clause.iter, &clause.target].into_iter().chain(&clause.conditions))
            .chain(elements)
            .collect(),
        ExprKind::Lambda { params, body } => param_expressions(params).chain(std::iter::once(body.as_ref())).collect(),
        ExprKind::Named { target, value } => vec![value, target],
    }
}

/// Calls `visit` on an expression and everything inside it, outermost first; `visit` says whether to go in.
pub fn expressions<'t>(expr: &'t Expr, visit: &mut dyn FnMut(&'t Expr) -> bool) {
    if visit(expr) {
        for part in parts(expr) {
            expressions(part, visit);
        }
    }
}
