//! What others may call, long after the added statement that hands it to them: lambdas, `net.register_forward_hook(lambda *a: print(a))`,
//! and functions of the script, `net.register_forward_hook(show)`.

use crate::source::Range;
use crate::syntax::tree::{Expr, ExprKind, Stmt};
use crate::syntax::{Tokens, walk};

/// Functions that see the frame in which they are called: not to be called in another one.
const OF_THE_FRAME: &[&str] = &["super", "locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe", "stack"];

/// Of a statement, the bodies of the outermost lambdas that call something: without a call nothing is printed. And what it gives to
/// what registers hooks, which may be a function (`true`).
pub(super) fn called_later(stmt: &Stmt, tokens: &Tokens, found: &mut dyn FnMut(Range, bool)) {
    let is_written = |at| tokens.is_spelled(at) || tokens.inside_string(at);
    for expr in walk::own_expressions(stmt) {
        let mut handed: Vec<usize> = Vec::new();
        walk::expressions(expr, &mut |expr| {
            if handed.contains(&expr.range.start) {
                return false;
            }
            if let ExprKind::Call(call) = &expr.kind
                && registers(&call.callee)
            {
                for value in call.args.iter().chain(call.keywords.iter().map(|(_, value)| value)) {
                    let may_be_one =
                        matches!(value.kind, ExprKind::Name(_) | ExprKind::Attribute { .. } | ExprKind::Call(_));
                    if may_be_one && !looks(value).1 && !is_written(value.range.start) {
                        handed.push(value.range.start);
                        found(value.range, true);
                    }
                }
            }
            let ExprKind::Lambda { body, .. } = &expr.kind else { return true };
            if looks(body) == (true, false) && !is_written(body.range.start) {
                found(body.range, false);
            }
            false
        });
    }
}

/// Whether a method or a function of this name registers a hook.
pub fn registers_hook(name: &str) -> bool {
    name.starts_with("register_") && name.contains("hook")
}

fn registers(callee: &Expr) -> bool {
    let (ExprKind::Name(name) | ExprKind::Attribute { attr: name, .. }) = &callee.kind else { return false };
    registers_hook(name.as_str()) || name.as_str() == "register"
}

/// Whether an expression calls something, and whether it needs the frame that it is written in.
fn looks(body: &Expr) -> (bool, bool) {
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
    (calls, needs_frame)
}
