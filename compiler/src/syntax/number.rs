//! Statement numbers across the files of a project: each statement has one of its own.

use super::tree::{Module, Stmt, StmtKind};
use crate::ids::StmtId;

impl Module {
    /// Numbers the statements from `first` on, in source order; returns the first free number.
    pub fn number_from(&mut self, first: StmtId) -> StmtId {
        let mut next = first;
        number(&mut self.body, &mut next);
        next
    }
}

fn number(suite: &mut [Stmt], next: &mut StmtId) {
    for stmt in suite {
        stmt.id = *next;
        *next = next.next();
        match &mut stmt.kind {
            StmtKind::Function(function) => number(&mut function.body, next),
            StmtKind::Class(class) => number(&mut class.body, next),
            StmtKind::For(node) => {
                number(&mut node.body, next);
                number(&mut node.orelse, next);
            }
            StmtKind::While { body, orelse, .. } | StmtKind::If { body, orelse, .. } => {
                number(body, next);
                number(orelse, next);
            }
            StmtKind::With { body, .. } => number(body, next),
            StmtKind::Match { cases, .. } => cases.iter_mut().for_each(|case| number(&mut case.body, next)),
            StmtKind::Try { body, handlers, orelse, finalbody } => {
                number(body, next);
                handlers.iter_mut().for_each(|handler| number(&mut handler.body, next));
                number(orelse, next);
                number(finalbody, next);
            }
            _ => {}
        }
    }
}
