//! Calls that take a value from outside: a clock, the kernel's entropy, the number of the process. No two runs get the same, so what
//! the recorded run got is kept and given back to a replay.

use super::knowledge::Knowledge;
use crate::calls::{Project, dotted};
use crate::source::{Range, Source};
use crate::syntax::walk;
use crate::syntax::{File, tree::ExprKind};

/// What is called, by file: the range of `time.time` in `time.time()`. Which function it is in the end is seen when it is called.
///
/// What is reached through another name (`clock = time.time`, `default_factory=time.time`) is not found.
pub fn inputs(project: &Project, files: &[File]) -> Vec<Vec<Range>> {
    let mut found = vec![Vec::new(); files.len()];
    for (id, scope) in project.scopes.list.iter().enumerate() {
        walk::statements(scope.body, &mut |stmt| {
            for expr in walk::own_expressions(stmt) {
                walk::expressions(expr, &mut |part| {
                    if let ExprKind::Call(call) = &part.kind
                        && let Some(name) = project.library_name(id, &call.callee)
                        && let Some(facts) = Knowledge::shipped().function(&name)
                        && (facts.input || facts.input_alone && call.args.is_empty() && call.keywords.is_empty())
                        && dotted(&call.callee)
                            .is_some_and(|text| stands(&files[scope.file].source, call.callee.range, &text))
                    {
                        found[scope.file].push(call.callee.range);
                    }
                    true
                });
            }
        });
    }
    found.iter_mut().for_each(|ranges| ranges.sort_by_key(|range| range.start));
    found
}

/// Whether a range holds the name as it is; the parser may be off inside a string with replacement fields.
fn stands(source: &Source, range: Range, text: &str) -> bool {
    source.text.get(range.start..range.end) == Some(text)
}
