//! Loops that print or log: their iterations are followed, so that what is printed there has the numbers of its loop.
//!
//! An iteration that is followed takes 15 to 140 ns more (2026-11-27). What prints, even now and then, takes longer; other loops may take
//! no longer than that themselves.

use crate::loops::loop_body;
use crate::syntax::tree::{Expr, ExprKind, Literal, Stmt, StmtKind};
use crate::syntax::walk;

/// Methods of loggers, trackers, progress bars and streams.
const METHODS: &[&str] = &[
    "add_scalar",
    "add_scalars",
    "critical",
    "debug",
    "echo",
    "error",
    "info",
    "log_metric",
    "log_metrics",
    "print",
    "warning",
    "write",
];

/// Whether an iteration of a loop prints or logs something outside of the loops inside it.
pub(super) fn speaks(stmt: &Stmt) -> bool {
    is_in(loop_body(stmt))
}

fn is_in(suite: &[Stmt]) -> bool {
    suite.iter().any(|stmt| match &stmt.kind {
        StmtKind::For(_) | StmtKind::While { .. } => false,
        _ => {
            walk::own_expressions(stmt).any(|expr| {
                let mut found = false;
                walk::expressions(expr, &mut |part| {
                    if let ExprKind::Call(call) = &part.kind {
                        found |= match &call.callee.kind {
                            ExprKind::Name(name) => *name == "print",
                            ExprKind::Attribute { attr, .. } if *attr == "log" => {
                                call.args.first().is_some_and(is_told)
                            }
                            ExprKind::Attribute { attr, .. } => METHODS.iter().any(|method| attr == method),
                            _ => false,
                        };
                    }
                    !found && !matches!(part.kind, ExprKind::Lambda { .. })
                });
                found
            }) || walk::suites(stmt).any(is_in)
        }
    })
}

/// A text or a dictionary: no number, as `np.log` gets.
fn is_told(first: &Expr) -> bool {
    match &first.kind {
        ExprKind::Constant(value) => matches!(value, Literal::Str(_)),
        ExprKind::Display { .. } => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::speaks;
    use crate::source::Source;
    use crate::syntax::File;

    fn is_it(body: &str) -> bool {
        let file = File::script(Source::new("f.py", format!("for x in y:\n{body}")), "").unwrap();
        speaks(&file.module.body[0])
    }

    #[test]
    fn what_prints_outside_of_inner_loops_and_functions() {
        assert!(
            is_it("  print(x)\n")
                && is_it("  if x:\n    log.info(x)\n")
                && is_it("  with a:\n    y = f(bar.write('a'))\n")
        );
        assert!(!is_it("  for z in x: print(z)\n") && !is_it("  def f(): print(x)\n") && !is_it("  y = f(x)\n"));
        assert!(!is_it("  y = lambda: print(x)\n") && !is_it("  y = np.log(x)\n"));
        assert!(is_it("  wandb.log({'x': x})\n") && is_it("  florc.log('x', x)\n"));
    }
}
