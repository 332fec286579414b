//! Lambdas in added statements: somebody else may call them, long after the statement. `net.register_forward_hook(lambda *a: print(a))`.

use crate::source::Range;
use crate::syntax::tree::{Expr, ExprKind, Stmt};
use crate::syntax::{Tokens, walk};

/// Functions that see the frame in which they are called: not to be called in another one.
const OF_THE_FRAME: &[&str] = &["super", "locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe", "stack"];

/// The bodies of the outermost lambdas of a statement that call something: without a call nothing is printed.
pub(super) fn called_later(stmt: &Stmt, tokens: &Tokens, found: &mut dyn FnMut(Range)) {
    for expr in walk::own_expressions(stmt) {
        walk::expressions(expr, &mut |expr| {
            let ExprKind::Lambda { body, .. } = &expr.kind else { return true };
            let is_written = |at| tokens.is_spelled(at) || tokens.inside_string(at);
            if can_be_wrapped(body) && !is_written(body.range.start) {
                found(body.range);
            }
            false
        });
    }
}

fn can_be_wrapped(body: &Expr) -> bool {
    let (mut calls, mut needs_frame) = (false, false);
    walk::expressions(body, &mut |expr| {
        match &expr.kind {
            ExprKind::Call(_) => calls = true,
            ExprKind::Await(_) | ExprKind::Yield(_) => needs_frame = true,
            ExprKind::Name(name) | ExprKind::Attribute { attr: name, .. } => {
                needs_frame |= OF_THE_FRAME.contains(&name.as_str()) || name.as_str() == "__class__";
            }
            _ => {}
        }
        true
    });
    calls && !needs_frame
}
