//! Conditions of `while` loops that run the user's own code.
//!
//! A replay that jumps puts the state of an iteration back after Python has evaluated the condition. It is not evaluated again, since it
//! may change something: what stands in a function that it calls would see the state of the first iteration instead.

use crate::analysis::Analysis;
use crate::scopes::Owner;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// Methods that Python calls where a condition compares, or is true.
const ASKED: &[&str] = &["__bool__", "__eq__", "__ge__", "__gt__", "__le__", "__lt__", "__ne__"];

pub(super) struct Conditions {
    /// The functions, methods and properties of the project by their names, as a receiver may be of any class.
    functions: BTreeSet<String>,
}

impl Conditions {
    pub fn new(analysis: &Analysis) -> Self {
        let name = |owner: &Owner| match owner {
            Owner::Function(function) => Some(function.name.to_string()),
            Owner::Class(class) => Some(class.name.to_string()),
            _ => None,
        };
        Self { functions: analysis.project.scopes.list.iter().filter_map(|scope| name(&scope.owner)).collect() }
    }

    /// Whether the condition of a loop may run what the user wrote, or prints.
    pub fn run_own_code(&self, stmt: &Stmt) -> bool {
        let StmtKind::While { test, .. } = &stmt.kind else { return false };
        let has_own_truth = !matches!(test.kind, ExprKind::Constant(_));
        let mut found = has_own_truth && ASKED.iter().any(|name| self.functions.contains(*name));
        walk::expressions(test, &mut |part| {
            found |= self.is_own(part);
            !found
        });
        found
    }

    fn is_own(&self, part: &Expr) -> bool {
        let is_known = |name: &str| name == "print" || self.functions.contains(name);
        match &part.kind {
            ExprKind::Attribute { attr, .. } => is_known(attr),
            ExprKind::Call(call) => matches!(&call.callee.kind, ExprKind::Name(name) if is_known(name)),
            ExprKind::Lambda { .. } => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analysis;
    use crate::plan::Options;
    use crate::source::Source;
    use crate::syntax::File;

    /// Whether a replay may jump into a training loop with this condition.
    fn jumps(condition: &str, more: &str) -> bool {
        let text = format!(
            "class Trainer:\n    def more(self):\n        return self.n < 5\n{more}def left():\n    return n\nwhile {condition}:\n    loss.backward()\n    optimizer.step()\n    n += 1\n"
        );
        let files = [File::script(Source::new("f.py", text), "").unwrap()];
        Analysis::new(&files).plans(&Options::default()).remove(0).loops[0].boundary.is_some()
    }

    #[test]
    fn into_loops_whose_conditions_run_nothing_of_the_users() {
        for condition in
            ["True", "n < 5", "n < 5 and not self.done", "len(queue) > 0", "(x := next(it, None)) is not None"]
        {
            assert!(jumps(condition, ""), "{condition}");
        }
        for condition in
            ["left() < 5", "trainer.more()", "trainer.more", "n < 5 and print(n) is None", "(lambda: n)() < 5"]
        {
            assert!(!jumps(condition, ""), "{condition}");
        }
        assert!(!jumps("n < limit", "    def __lt__(self, other):\n        return True\n"));
        assert!(jumps("True", "    def __lt__(self, other):\n        return True\n"));
    }
}
