//! The last expression of a notebook's cell, whose value is shown.

use crate::source::Range;
use crate::syntax::File;
use crate::syntax::tree::{ExprKind, StmtKind};

/// What shows its value by itself, and has none to show.
const SHOWS: &[&str] = &["print", "display"];

/// The statement that a cell ends with, if it is an expression whose value is shown: not one that ends in `;`.
#[must_use]
pub fn shown_at_end(file: &File) -> Option<Range> {
    let last = file.module.body.last()?;
    let StmtKind::Expr(value) = &last.kind else { return None };
    if let ExprKind::Call(call) = &value.kind
        && let ExprKind::Name(name) = &call.callee.kind
        && SHOWS.contains(&name.as_str())
    {
        return None;
    }
    let behind = &file.source.text[last.range.end..];
    (!behind.trim_start().starts_with(';')).then_some(last.range)
}

#[cfg(test)]
mod tests {
    use super::shown_at_end;
    use crate::source::Source;
    use crate::syntax::File;

    #[test]
    fn only_an_expression_that_is_not_silenced() {
        let shown = |text: &str| {
            let file = File::script(Source::new("cell.py", text), "").unwrap();
            shown_at_end(&file).map(|range| text[range.start..range.end].to_owned())
        };
        assert_eq!(shown("x = 1\nx + 1  # why\n").as_deref(), Some("x + 1"));
        assert_eq!(shown("(x,\n 4)").as_deref(), Some("(x,\n 4)"));
        assert_eq!(shown("(x)").as_deref(), Some("(x)"));
        for silent in ["", "x = 1", "x;", "(x) ; # why", "print(x)", "display(x)", "for x in y:\n    x"] {
            assert_eq!(shown(silent), None, "{silent}");
        }
    }
}
