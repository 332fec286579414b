//! What the header of a loop says.

use crate::source::Source;
use crate::syntax::tree::{ExprKind, Literal, Stmt, StmtKind};

/// The names that a `for` loop's header binds; `epoch` of `for self.epoch in …`.
pub fn variables(stmt: &Stmt) -> Vec<&str> {
    let StmtKind::For(node) = &stmt.kind else { return Vec::new() };
    let (mut found, mut todo) = (Vec::new(), vec![&node.target]);
    while let Some(target) = todo.pop() {
        match &target.kind {
            ExprKind::Name(name) | ExprKind::Attribute { attr: name, .. } => found.push(name.as_str()),
            ExprKind::Display { items, .. } => todo.extend(items.iter().rev()),
            ExprKind::Starred(inner) => todo.push(inner),
            _ => {}
        }
    }
    found
}

/// The last line of the body of a `while` loop that its condition may end (its `else` runs then); None of any other loop.
pub fn last_of_body(stmt: &Stmt, source: &Source) -> Option<usize> {
    let StmtKind::While { test, body, .. } = &stmt.kind else { return None };
    let is_endless = match &test.kind {
        ExprKind::Constant(Literal::True) => true,
        ExprKind::Constant(Literal::Number) => source.slice(test.range).parse::<f64>().is_ok_and(|value| value != 0.0),
        ExprKind::Constant(Literal::Str(text)) => !text.is_empty(),
        _ => false,
    };
    body.last().filter(|_| !is_endless).map(|last| source.lines.line(last.range.end))
}

#[cfg(test)]
mod tests {
    use super::{last_of_body, variables};
    use crate::source::Source;
    use crate::syntax::File;

    fn of<T>(text: &str, ask: impl Fn(&crate::syntax::tree::Stmt, &Source) -> T) -> T {
        let file = File::script(Source::new("f.py", text), "").unwrap();
        ask(&file.module.body[0], &file.source)
    }

    #[test]
    fn names_of_loops() {
        let names = |text: &str| of(text, |stmt, _| variables(stmt).join(" "));
        assert_eq!(names("for epoch in range(3): pass"), "epoch");
        assert_eq!(names("for i, (x, *y) in enumerate(data): pass"), "i x y");
        assert_eq!(names("for self.epoch, seen[i] in data: pass"), "epoch");
        assert_eq!(names("while epoch < 3: pass"), "");
    }

    #[test]
    fn the_condition_of_a_loop_may_end_it() {
        let last = |text: &str| of(text, last_of_body);
        assert_eq!(last("while i < 3:\n    i += 1\n    f(\n        i)\nelse:\n    g()\n"), Some(4));
        assert_eq!(last("while 0:\n    i += 1\n"), Some(2));
        for text in ["while True:\n    f()", "while 1: f()", "while 'on': f()", "for x in y: f()"] {
            assert_eq!(last(text), None, "{text}");
        }
    }
}
