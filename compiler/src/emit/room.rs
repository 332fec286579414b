//! Whether another statement may be put around a loop.

use crate::loops::outer_jump;
use crate::syntax::tree::{Stmt, StmtKind};
use crate::syntax::walk;

/// CPython compiles at most 20 blocks inside each other (`CO_MAXBLOCKS`; a `with` or a `try` may be up to three), and so many are
/// far more than people write.
const MOST: usize = 20;

/// Whether a `for` loop may be put around a loop: no `break` in its `else` would be taken for one of that, and there are not too many
/// statements inside each other. `all`: the statements of the file, in source order.
pub(super) fn has_room(all: &[&Stmt], stmt: &Stmt) -> bool {
    let around = all.iter().filter(|outer| outer.id < stmt.id && outer.range.contains(stmt.range));
    let own = around.fold(0, |blocks, outer| if is_scope(outer) { 0 } else { blocks + blocks_of(outer) });
    outer_jump(stmt).is_none() && own + blocks_in(stmt) <= MOST
}

fn is_scope(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::Function(_) | StmtKind::Class(_))
}

/// At most so many blocks of CPython's is it; a `while` loop with what may be put around it.
fn blocks_of(stmt: &Stmt) -> usize {
    match stmt.kind {
        StmtKind::For(_) => 1,
        StmtKind::While { .. } => 2,
        StmtKind::With { .. } | StmtKind::Try { .. } => 3,
        _ => 0,
    }
}

/// The most blocks inside each other in a statement, with its own.
fn blocks_in(stmt: &Stmt) -> usize {
    let inside = walk::suites(stmt).flatten().filter(|inner| !is_scope(inner)).map(blocks_in).max();
    blocks_of(stmt) + inside.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::has_room;
    use crate::source::Source;
    use crate::syntax::{File, walk};

    /// Whether there is room around the last `while` loop.
    fn room(text: &str) -> bool {
        let file = File::script(Source::new("f.py", text), "").unwrap();
        let mut all = Vec::new();
        walk::all_statements(&file.module, &mut |stmt| all.push(stmt));
        let last = all.iter().rfind(|stmt| file.source.slice(stmt.range).starts_with("while")).unwrap();
        has_room(&all, last)
    }

    fn nested(count: usize, header: &str) -> String {
        let indented = |depth: usize, line: &str| format!("{}{line}\n", " ".repeat(depth));
        (0..count).map(|depth| indented(depth, header)).collect::<String>() + &indented(count, "while x: y()")
    }

    #[test]
    fn a_break_of_a_loop_around_stays_that_ones() {
        assert!(room("while x:\n  break\nelse:\n  y()\n"));
        assert!(room("for x in y:\n  while x:\n    break\n  else:\n    for z in x: break\n"));
        assert!(!room("for x in y:\n  while x:\n    y()\n  else:\n    if z: break\n"));
        assert!(!room("for x in y:\n  while x:\n    y()\n  else:\n    for z in x: pass\n    else: continue\n"));
    }

    #[test]
    fn no_more_statements_inside_each_other_than_python_compiles() {
        assert!(room(&nested(18, "for x in y:")) && !room(&nested(19, "for x in y:")));
        assert!(
            room(&nested(30, "if x:"))
                && !room(&nested(6, "with x:").replace("while x: y()", "while x:\n        with x: y()"))
        );
        let own = nested(15, "for x in y:").replace("while x: y()", "def f():\n                 while x: y()");
        assert!(room(&own), "a function has room of its own");
    }
}
