//! Calls that are a block of their own: the loops are in a library.

use crate::knowledge::{Knowledge, List};
use crate::syntax::tree::{Call, Expr, ExprKind, Stmt, StmtKind};

/// The call that a statement consists of (`clf.fit(x, y)`, `history = model.fit(…)`), if it may take as long as a loop, by its name.
pub fn long_call(stmt: &Stmt) -> Option<&Call> {
    let value = match &stmt.kind {
        StmtKind::Expr(value) | StmtKind::Assign { value, .. } | StmtKind::AnnAssign { value: Some(value), .. } => {
            value
        }
        _ => return None,
    };
    let ExprKind::Call(call) = &value.kind else { return None };
    let (name, receiver) = match &call.callee.kind {
        ExprKind::Name(name) => (name.as_str(), None),
        ExprKind::Attribute { value, attr } => (attr.as_str(), Some(value)),
        _ => return None,
    };
    let known = Knowledge::shipped();
    // `net.train()` sets a mode; what is called a trainer trains
    let by_receiver = || receiver.is_some_and(|of| is_trainer(of) && known.lists(List::TakesLongOfTrainers, name));
    (known.lists(List::TakesLong, name) || by_receiver()).then_some(call)
}

/// Whether it is called `trainer`, `self.trainer`, `my_trainer`; or the module of a library of trees, whose `train` is a function.
fn is_trainer(receiver: &Expr) -> bool {
    let name = match &receiver.kind {
        ExprKind::Name(name) | ExprKind::Attribute { attr: name, .. } => name.as_str(),
        ExprKind::Call(call) => match &call.callee.kind {
            ExprKind::Name(name) | ExprKind::Attribute { attr: name, .. } => name.as_str(),
            _ => "",
        },
        _ => "",
    };
    Knowledge::shipped().lists(List::Trainers, name) || name.to_ascii_lowercase().ends_with("trainer")
}
