//! Renaming.

use super::{apply, parse};
use florc::Source;
use florc::source::Range;
use florc::syntax::tree::{ExprKind, Param, StmtKind};
use florc::syntax::walk;
use std::collections::{BTreeMap, BTreeSet};

/// What every renamed name ends in.
pub const SUFFIX: &str = "_renamed";

/// Renames every variable whose occurrences are all plain names in the text: not parameters (callers may name them), not
/// what `def`, `class`, `import`, `global`, `except … as` or a pattern binds.
pub fn rename_variables(source: &Source) -> Option<String> {
    let module = parse(source);
    let mut uses: BTreeMap<&str, Vec<Range>> = BTreeMap::new();
    let mut bound = BTreeSet::new();
    let mut fixed: BTreeSet<&str> = BTreeSet::new();
    walk::all_statements(&module, &mut |stmt| {
        match &stmt.kind {
            StmtKind::Function(function) => {
                fixed.insert(function.name.as_str());
                fixed.extend(function.params.iter().map(|param| param.name.as_str()));
            }
            StmtKind::Class(class) => {
                fixed.insert(class.name.as_str());
                // The fields of a class are attributes, too.
                class.body.iter().for_each(|field| {
                    florc::scopes::bound_names(field, &mut |name| {
                        fixed.insert(name.as_str());
                    })
                });
            }
            StmtKind::Import(imports) => fixed.extend(imports.iter().map(|import| import.local.as_str())),
            StmtKind::Global(names) | StmtKind::Nonlocal(names) => fixed.extend(names.iter().map(|name| name.as_str())),
            StmtKind::Match { cases, .. } => {
                fixed.extend(cases.iter().flat_map(|case| &case.binds).map(|name| name.as_str()))
            }
            StmtKind::Try { handlers, .. } => {
                fixed.extend(handlers.iter().filter_map(|handler| handler.name.map(|name| name.as_str())))
            }
            _ => {}
        }
        florc::scopes::bound_names(stmt, &mut |name| {
            bound.insert(name.as_str());
        });
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                match &part.kind {
                    ExprKind::Name(name) => uses.entry(name.as_str()).or_default().push(part.range),
                    ExprKind::Lambda { params, .. } => {
                        fixed.extend(params.iter().map(|Param { name, .. }| name.as_str()))
                    }
                    _ => {}
                }
                true
            });
        }
    });
    let mut edits = Vec::new();
    for (name, ranges) in uses {
        // Inside some strings the tree does not know where a name stands.
        let all_there = ranges.iter().all(|range| source.slice(*range) == name);
        if bound.contains(name) && !fixed.contains(name) && all_there && !name.starts_with("__") {
            let ranges: BTreeSet<(usize, usize)> = ranges.iter().map(|range| (range.start, range.end)).collect();
            edits.extend(ranges.into_iter().map(|(start, end)| (Range::new(start, end), format!("{name}{SUFFIX}"))));
        }
    }
    (!edits.is_empty()).then(|| apply(&source.text, edits))
}
