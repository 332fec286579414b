//! One way to walk the tree, used by every analysis.

use super::tree::{Expr, ExprKind, Module, Param, Stmt, StmtKind};
use super::walked::{Exprs, Suites};

/// The suites directly inside a statement, in source order. Bodies of functions and classes are not among them.
pub fn suites(stmt: &Stmt) -> Suites<'_> {
    match &stmt.kind {
        StmtKind::For(node) => Suites::two(&node.body, &node.orelse),
        StmtKind::While { body, orelse, .. } | StmtKind::If { body, orelse, .. } => Suites::two(body, orelse),
        StmtKind::With { body, .. } => Suites::one(body),
        StmtKind::Match { cases, .. } => Suites { cases: cases.iter(), ..Suites::default() },
        StmtKind::Try { body, handlers, orelse, finalbody } => Suites {
            first: Some(body),
            handlers: handlers.iter(),
            last: [Some(orelse), Some(finalbody)],
            ..Suites::default()
        },
        _ => Suites::default(),
    }
}

/// The same, of a function or a class its body.
pub fn all_suites(stmt: &Stmt) -> Suites<'_> {
    match &stmt.kind {
        StmtKind::Function(function) => Suites::one(&function.body),
        StmtKind::Class(class) => Suites::one(&class.body),
        _ => suites(stmt),
    }
}

/// Calls `visit` on every statement of a suite and of the suites inside it, in source order, staying in this scope:
/// definitions are visited, their bodies are not.
pub fn statements<'t>(suite: &'t [Stmt], visit: &mut dyn FnMut(&'t Stmt)) {
    for stmt in suite {
        visit(stmt);
        match &stmt.kind {
            StmtKind::Expr(_) | StmtKind::Assign { .. } | StmtKind::Return(_) => {}
            StmtKind::If { body, orelse, .. } => {
                statements(body, visit);
                statements(orelse, visit);
            }
            _ => suites(stmt).for_each(|inner| statements(inner, visit)),
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
pub fn own_expressions(stmt: &Stmt) -> Exprs<'_> {
    match &stmt.kind {
        StmtKind::Function(function) => {
            let mut out: Vec<&Expr> = function.decorators.iter().collect();
            out.extend(param_expressions(&function.params));
            out.extend(&function.returns);
            Exprs::listed(out)
        }
        StmtKind::Class(class) => {
            Exprs { slice: class.decorators.iter(), more: class.bases.iter(), ..Exprs::default() }
        }
        StmtKind::Return(value) => Exprs::single(value.as_ref()),
        StmtKind::Delete(targets) => Exprs::slice(targets),
        StmtKind::Assign { targets, value } => Exprs { slice: targets.iter(), ..Exprs::single(Some(value)) },
        StmtKind::AugAssign { target, value } => Exprs::three([Some(value), Some(target), None]),
        StmtKind::AnnAssign { target, annotation, value } => {
            Exprs::three([value.as_ref(), Some(target), Some(annotation)])
        }
        StmtKind::For(node) => Exprs::three([Some(&node.iter), Some(&node.target), None]),
        StmtKind::While { test, .. } | StmtKind::If { test, .. } => Exprs::single(Some(test)),
        StmtKind::With { items, .. } => match items.as_slice() {
            [(value, target)] => Exprs::three([Some(value), target.as_ref(), None]),
            _ => Exprs::listed(items.iter().flat_map(|(value, target)| std::iter::once(value).chain(target)).collect()),
        },
        StmtKind::Match { subject, cases } => Exprs::listed(
            std::iter::once(subject)
                .chain(cases.iter().flat_map(|case| case.values.iter().chain(&case.guard)))
                .collect(),
        ),
        StmtKind::Raise(values) | StmtKind::Assert(values) => Exprs::slice(values),
        StmtKind::Try { handlers, .. } => {
            Exprs::listed(handlers.iter().filter_map(|handler| handler.kind.as_ref()).collect())
        }
        StmtKind::Expr(value) => Exprs::single(Some(value)),
        _ => Exprs::default(),
    }
}

fn param_expressions(params: &[Param]) -> impl Iterator<Item = &Expr> {
    params.iter().flat_map(|param| param.default.iter().chain(&param.annotation))
}

/// The direct parts of an expression, in evaluation order.
pub fn parts(expr: &Expr) -> Exprs<'_> {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Constant(_) | ExprKind::Yield(None) => Exprs::default(),
        ExprKind::Attribute { value, .. }
        | ExprKind::Starred(value)
        | ExprKind::Await(value)
        | ExprKind::Yield(Some(value)) => Exprs::single(Some(value)),
        ExprKind::Subscript { value, index } => Exprs::three([Some(value), Some(index), None]),
        ExprKind::Call(call) => {
            Exprs { slice: call.args.iter(), keywords: call.keywords.iter(), ..Exprs::single(Some(&call.callee)) }
        }
        ExprKind::Operation(parts) | ExprKind::Choice(parts) => Exprs::slice(parts),
        ExprKind::Display { items, .. } => Exprs::slice(items),
        ExprKind::Comprehension { elements, clauses, .. } => Exprs::listed(
            clauses
                .iter()
                .flat_map(|clause| [&clause.iter, &clause.target].into_iter().chain(&clause.conditions))
                .chain(elements)
                .collect(),
        ),
        ExprKind::Lambda { params, body } => {
            Exprs::listed(param_expressions(params).chain(std::iter::once(body.as_ref())).collect())
        }
        ExprKind::Named { target, value } => Exprs::three([Some(value), Some(target), None]),
    }
}

/// Calls `visit` on an expression and everything inside it, outermost first; `visit` says whether to go in.
pub fn expressions<'t>(expr: &'t Expr, visit: &mut dyn FnMut(&'t Expr) -> bool) {
    if !visit(expr) {
        return;
    }
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Constant(_) => {}
        ExprKind::Attribute { value, .. } => expressions(value, visit),
        ExprKind::Call(call) => {
            expressions(&call.callee, visit);
            call.args.iter().for_each(|arg| expressions(arg, visit));
            call.keywords.iter().for_each(|(_, value)| expressions(value, visit));
        }
        ExprKind::Operation(parts) | ExprKind::Choice(parts) | ExprKind::Display { items: parts, .. } => {
            parts.iter().for_each(|part| expressions(part, visit));
        }
        _ => parts(expr).for_each(|part| expressions(part, visit)),
    }
}
