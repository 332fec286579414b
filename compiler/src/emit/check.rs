//! Whether what was written into a file left its tree as it was: stripped of florc's nodes, and with every position mapped
//! back, the emitted text must be the user's tree.

use std::mem::{Discriminant, discriminant};

use super::edits::Emitted;
use super::runtime;
use crate::source::{Range, Source};
use crate::syntax::tree::{Expr, ExprKind, Module, Stmt, StmtKind};
use crate::syntax::{parse, walk};

/// Why emitted text must not run: it is not Python, or not the user's program with insertions.
///
/// The text of the user stands in both, byte for byte, so nodes of the same kinds at the same places are the same nodes.
pub(super) fn why_not(source: &Source, module: &Module, emitted: &Emitted) -> Option<&'static str> {
    let alias = runtime::free_alias(&source.text);
    let text = Source::new(source.name.as_str(), emitted.text.as_str());
    let Ok((written, _)) = parse(&text) else {
        return Some("its indentation leaves no room for a further step");
    };
    let mut original = Flat { facts: Vec::new(), emitted: None, alias: &alias };
    original.statements(&module.body);
    let mut stripped = Flat { facts: Vec::new(), emitted: Some(emitted), alias: &alias };
    stripped.statements(&written.body);
    (original.facts != stripped.facts).then_some("instrumenting it would change its syntax tree")
}

/// A node of the tree, or where a suite begins and ends.
#[derive(PartialEq, Eq)]
enum Fact {
    Stmt(Discriminant<StmtKind>, Range),
    Expr(Discriminant<ExprKind>, Range),
    Suite,
    End,
}

/// A tree as a list, without florc's nodes, its positions those of the original text.
struct Flat<'a> {
    facts: Vec<Fact>,
    emitted: Option<&'a Emitted>,
    alias: &'a str,
}

impl Flat<'_> {
    fn statements(&mut self, suite: &[Stmt]) {
        for stmt in suite {
            match self.inside(stmt) {
                Some(inner) => self.statements(inner),
                None => self.statement(stmt),
            }
        }
    }

    /// The user's statements inside one of florc's; None for one of the user's.
    fn inside<'t>(&self, stmt: &'t Stmt) -> Option<&'t [Stmt]> {
        self.emitted?;
        match &stmt.kind {
            StmtKind::Import(names) if names.iter().any(|name| name.dotted == "florc" && name.local == self.alias) => {
                Some(&[])
            }
            StmtKind::Expr(value)
                if [runtime::BEGIN, runtime::LEFT, runtime::ENTERED].iter().any(|name| self.is_call(value, name)) =>
            {
                Some(&[])
            }
            StmtKind::If { test, .. } if self.is_call(test, runtime::BOUNDARY) => Some(&[]),
            StmtKind::For(node) if self.is_call(&node.iter, runtime::LOOP) => Some(&node.body),
            StmtKind::If { test, body, .. } if self.is_call(test, runtime::STEP_INTO) => {
                body.split_last().map(|(_, inner)| inner)
            }
            StmtKind::With { items, body, .. }
                if items.first().is_some_and(|(value, _)| self.is_call(value, runtime::PROBE)) =>
            {
                Some(body)
            }
            _ => None,
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.facts.push(Fact::Stmt(discriminant(&stmt.kind), self.original(stmt.range)));
        for expr in walk::own_expressions(stmt) {
            let expr = match &stmt.kind {
                StmtKind::For(_) | StmtKind::While { .. } => self.unwrapped(expr),
                _ => expr,
            };
            self.expression(expr);
        }
        match &stmt.kind {
            StmtKind::Function(function) => self.suite(&function.body),
            StmtKind::Class(class) => self.suite(&class.body),
            _ => {}
        }
        for suite in walk::suites(stmt) {
            self.suite(suite);
        }
    }

    fn suite(&mut self, suite: &[Stmt]) {
        self.facts.push(Fact::Suite);
        self.statements(suite);
        self.facts.push(Fact::End);
    }

    fn expression(&mut self, expr: &Expr) {
        if self.emitted.is_some()
            && self.is_call(expr, runtime::OBSERVED)
            && let ExprKind::Call(call) = &expr.kind
            && let Some(inner) = call.args.first()
        {
            return self.expression(inner);
        }
        if self.emitted.is_some()
            && self.is_call(expr, runtime::PROBED)
            && let ExprKind::Call(call) = &expr.kind
            && let Some(ExprKind::Lambda { body, .. }) = call.args.get(1).map(|inner| &inner.kind)
        {
            return self.expression(body);
        }
        self.facts.push(Fact::Expr(discriminant(&expr.kind), self.original(expr.range)));
        for part in walk::parts(expr) {
            self.expression(part);
        }
    }

    /// What a loop of the user's runs over, or its condition.
    fn unwrapped<'t>(&self, expr: &'t Expr) -> &'t Expr {
        if self.emitted.is_none() {
            return expr;
        }
        match &expr.kind {
            ExprKind::Call(call) if self.is_call(expr, runtime::GENERATOR) => call.args.get(1).unwrap_or(expr),
            ExprKind::Choice(parts) | ExprKind::Operation(parts) => match parts.as_slice() {
                [first, second] if self.is_call(first, runtime::TICK) => second,
                [first, second] if self.is_call(second, runtime::OVER) => self.unwrapped(first),
                _ => expr,
            },
            _ => expr,
        }
    }

    /// Whether an expression calls a name of the runtime.
    fn is_call(&self, expr: &Expr, name: &str) -> bool {
        let ExprKind::Call(call) = &expr.kind else { return false };
        let mut names: Vec<&str> = name.split('.').collect();
        let mut at = &call.callee;
        while let ExprKind::Attribute { value, attr } = &at.kind {
            if names.pop() != Some(attr.as_str()) {
                return false;
            }
            at = value;
        }
        names.is_empty() && matches!(&at.kind, ExprKind::Name(root) if root == self.alias)
    }

    fn original(&self, range: Range) -> Range {
        match self.emitted {
            Some(emitted) => Range::new(emitted.original_offset(range.start), emitted.original_end(range.end)),
            None => range,
        }
    }
}
