//! Functions that stood in the old version and that nothing in it named: an added statement that names one takes it into use.

use super::align::Aligned;
use super::words::words;
use crate::syntax::File;
use crate::syntax::tree::{Stmt, StmtKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// Counts such functions as added, with all that is in them: without the added statement they would not run.
pub(super) fn take_into_use<'n>(aligned: &mut [Aligned<'_, 'n>], old: &[File], new: &'n [File]) {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    for word in old.iter().flat_map(|file| words(&file.source.text)) {
        *counts.entry(word).or_default() += 1;
    }
    let added = aligned
        .iter()
        .zip(new)
        .flat_map(|(aligned, file)| aligned.added.iter().flat_map(|stmt| words(file.source.slice(stmt.range))));
    let named: FxHashSet<&str> = added.collect();
    for (aligned, file) in aligned.iter_mut().zip(new) {
        for stmt in &file.module.body {
            let is_there = aligned.same.iter().any(|(_, known)| std::ptr::eq(*known, stmt));
            if is_there && is_unused(file, stmt, &counts, &named) && !is_changed(aligned, stmt) {
                aligned.same.retain(|(_, known)| !is_in(known, stmt));
                aligned.added.push(stmt);
            }
        }
    }
}

/// Whether the name of a function stands nowhere in the old version but in the function itself, texts and comments included.
fn is_unused(file: &File, stmt: &Stmt, counts: &FxHashMap<&str, usize>, named: &FxHashSet<&str>) -> bool {
    let StmtKind::Function(function) = &stmt.kind else { return false };
    let name = function.name.as_str();
    let may_be_found = name.starts_with("__") || !function.decorators.is_empty();
    let own = words(file.source.slice(stmt.range)).filter(|word| *word == name).count();
    !may_be_found && counts.get(name) == Some(&own) && named.contains(name)
}

/// Whether anything in a function is otherwise than it was.
fn is_changed(aligned: &Aligned, function: &Stmt) -> bool {
    let edited = aligned.edited.iter().map(|(_, stmt)| *stmt);
    aligned.added.iter().copied().chain(edited).any(|stmt| is_in(stmt, function))
}

fn is_in(stmt: &Stmt, outer: &Stmt) -> bool {
    outer.range.start <= stmt.range.start && stmt.range.end <= outer.range.end
}
