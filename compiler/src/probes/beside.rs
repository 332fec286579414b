//! Where added statements stand: beside which others, in which function.

use crate::ids::StmtId;
use crate::scopes::{Owner, Scopes};
use crate::syntax::File;
use crate::syntax::tree::Stmt;
use crate::syntax::walk;
use std::collections::{BTreeMap, BTreeSet};

/// By the line of an added statement: the first and the last line of those that stand beside it with nothing else between, where
/// each begins.
pub fn groups(file: &File, added: &BTreeSet<StmtId>) -> BTreeMap<usize, (usize, usize)> {
    let line = |stmt: &Stmt| file.source.lines.line(stmt.range.start);
    let mut found = BTreeMap::new();
    let mut suites: Vec<&[Stmt]> = vec![&file.module.body];
    while let Some(suite) = suites.pop() {
        for group in suite.chunk_by(|one, next| added.contains(&one.id) == added.contains(&next.id)) {
            match group {
                [first, ..] if !added.contains(&first.id) => suites.extend(group.iter().flat_map(walk::all_suites)),
                [first, .., last] => found.extend(group.iter().map(|stmt| (line(stmt), (line(first), line(last))))),
                [only] => found.extend([(line(only), (line(only), line(only)))]),
                [] => {}
            }
        }
    }
    found
}

/// Whether a statement is in a method that Python may call when nothing is left of the script.
pub fn is_in_deletion(file: &File, stmt: StmtId) -> bool {
    let scopes = Scopes::new([&file.module]);
    matches!(scopes.list[scopes.holder(stmt)].owner, Owner::Function(function) if function.name == "__del__")
}

#[cfg(test)]
mod tests {
    use super::{groups, is_in_deletion};
    use crate::ids::StmtId;
    use crate::source::Source;
    use crate::syntax::{File, walk};
    use std::collections::{BTreeMap, BTreeSet};

    const TEXT: &str = "
class Net:
    def __del__(self):
        print(1)
        print(2)
        close()
        print(3)
    def fit(self):
        for x in data:
            print(4)
            optimizer.step()
        else:
            print(5)
        print(6)
        for y in data: optimizer.step()
def f():
    print(7)
";

    fn read() -> ([File; 1], BTreeMap<usize, StmtId>) {
        let file = File::script(Source::new("f.py", TEXT), "").unwrap();
        let mut at = BTreeMap::new();
        walk::all_statements(&file.module, &mut |stmt| {
            at.entry(file.source.lines.line(stmt.range.start)).or_insert(stmt.id);
        });
        ([file], at)
    }

    #[test]
    fn statements_side_by_side() {
        let ([file], at) = read();
        let lines: Vec<usize> =
            (1..).zip(TEXT.lines()).filter(|(_, text)| text.contains("print")).map(|l| l.0).collect();
        let added: BTreeSet<StmtId> = lines.iter().map(|line| at[line]).collect();
        let mut found: Vec<_> = groups(&file, &added).into_iter().collect();
        found.retain(|(line, group)| *group != (*line, *line));
        assert_eq!(found, [(4, (4, 5)), (5, (4, 5))]);
        assert_eq!(groups(&file, &added).len(), lines.len());
        // a whole suite of them, and what is inside one of them
        assert_eq!(
            groups(&file, &BTreeSet::from([at[&2], at[&16]])).into_iter().collect::<Vec<_>>(),
            [(2, (2, 16)), (16, (2, 16))]
        );
    }

    #[test]
    fn which_function_a_statement_is_in() {
        let (files, at) = read();
        let deleted = |line: usize| is_in_deletion(&files[0], at[&line]);
        assert!(deleted(4) && deleted(7) && !deleted(10) && !deleted(17));
    }
}
