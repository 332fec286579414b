//! Statements that take a step of an optimizer, for `--watch`.

use crate::source::Source;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// What is given the result of a call that has to do with optimizers: `sgd` in `sgd = torch.optim.SGD(…)`, `self.tx`, both names in
/// `g, d = optim.Adam(…), optim.Adam(…)`.
pub(super) fn optimizers<'t>(source: &'t Source, statements: &[&'t Stmt]) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    for stmt in statements {
        let (targets, value): (Vec<&Expr>, _) = match &stmt.kind {
            StmtKind::Assign { targets, value } => (targets.iter().collect(), value),
            StmtKind::AnnAssign { target, value: Some(value), .. } => (vec![target], value),
            _ => continue,
        };
        let mut makes_one = false;
        walk::expressions(value, &mut |part| {
            if let ExprKind::Call(call) = &part.kind {
                makes_one |= source.slice(call.callee.range).to_lowercase().contains("optim");
            }
            true
        });
        for target in targets.iter().filter(|_| makes_one) {
            match &target.kind {
                ExprKind::Display { items, .. } => {
                    found.extend(items.iter().map(|item| source.slice(item.range)));
                }
                _ => drop(found.insert(source.slice(target.range))),
            }
        }
    }
    found
}

/// `optimizer.step()`, `scaler.step(optimizer)`: by the word in what is called, or by what that was given. A loop that hides its
/// optimizer otherwise is asked by its line.
pub(super) fn takes_step(source: &Source, stmt: &Stmt, optimizers: &BTreeSet<&str>) -> bool {
    let mut takes = false;
    for expr in walk::own_expressions(stmt) {
        walk::expressions(expr, &mut |part| {
            if let ExprKind::Call(call) = &part.kind
                && let ExprKind::Attribute { attr, value } = &call.callee.kind
            {
                let receiver = source.slice(value.range);
                let word = receiver.to_lowercase();
                let is_one = word.contains("opt") || word.contains("scaler") || optimizers.contains(receiver);
                takes |= attr == "step" && is_one;
            }
            true
        });
    }
    takes
}
