//! Matches the statements of two versions of a file by structure, not by line number.

use super::layout::{fold, key};
use crate::source::Source;
use crate::syntax::File;
use crate::syntax::tree::{Stmt, StmtKind};
use crate::syntax::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use similar::{Algorithm, DiffTag, capture_diff_slices};

const ALIKE: usize = 1000;
/// Of longer suites the pairs are not weighed.
const MOST_PAIRS: usize = 40_000;

/// The statements of two versions, matched.
#[derive(Debug, Default)]
pub struct Aligned<'o, 'n> {
    /// Statements that are in both versions, with equal headers; their suites were matched in turn.
    pub same: Vec<(&'o Stmt, &'n Stmt)>,
    /// Compound statements of one kind whose headers differ, and whose suites were matched in turn.
    pub edited: Vec<(&'o Stmt, &'n Stmt)>,
    /// Statements that only the old version has.
    pub removed: Vec<&'o Stmt>,
    /// Statements that only the new version has.
    pub added: Vec<&'n Stmt>,
}

/// Matches two versions.
pub fn align<'o, 'n>(old: &'o File, new: &'n File) -> Aligned<'o, 'n> {
    let mut aligned = Aligned::default();
    aligned.suites(&old.source, &old.module.body, &new.source, &new.module.body);
    aligned
}

impl<'o, 'n> Aligned<'o, 'n> {
    fn suites(&mut self, old_source: &Source, old: &'o [Stmt], new_source: &Source, new: &'n [Stmt]) {
        let (removed, added) = (self.removed.len(), self.added.len());
        let old_keys: Vec<String> = old.iter().map(|stmt| key(old_source, stmt)).collect();
        let new_keys: Vec<String> = new.iter().map(|stmt| key(new_source, stmt)).collect();
        if is_ambiguous(new, &old_keys, &new_keys) && old.len() * new.len() <= MOST_PAIRS {
            let same = |i: usize, j: usize| old_keys[i] == new_keys[j];
            let weigh = |i: usize, j: usize| in_common(old_source, &old[i], new_source, &new[j]);
            let pairs = best_pairs(old.len(), new.len(), &|i, j| if same(i, j) { weigh(i, j) } else { 0 });
            self.paired(old_source, old, new_source, new, pairs);
            self.moved(old_source, removed, new_source, added);
            return;
        }
        for op in capture_diff_slices(Algorithm::Patience, &old_keys, &new_keys) {
            let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
            if op.tag() == DiffTag::Equal {
                for (old, new) in old.iter().zip(new) {
                    self.same.push((old, new));
                    self.inner(old_source, old, new_source, new);
                }
            } else {
                self.replaced(old_source, old, new_source, new);
            }
        }
        self.moved(old_source, removed, new_source, added);
    }

    /// Pairs of statements, in order, and what lies between them.
    fn paired(
        &mut self,
        old_source: &Source,
        old: &'o [Stmt],
        new_source: &Source,
        new: &'n [Stmt],
        pairs: Vec<(usize, usize)>,
    ) {
        let (mut i, mut j) = (0, 0);
        let end = (old.len(), new.len());
        for (a, b) in pairs.into_iter().chain([end]) {
            self.replaced(old_source, &old[i..a], new_source, &new[j..b]);
            if (a, b) != end {
                self.same.push((&old[a], &new[b]));
                self.inner(old_source, &old[a], new_source, &new[b]);
            }
            (i, j) = (a + 1, b + 1);
        }
    }

    /// Of what was removed from a suite and added to it, functions and classes of one name are the same one, elsewhere:
    /// the order of definitions rarely matters.
    fn moved(&mut self, old_source: &Source, removed: usize, new_source: &Source, added: usize) {
        let mut at = removed;
        while at < self.removed.len() {
            let old = self.removed[at];
            let Some(found) = self.added[added..].iter().position(|new| is_same_definition(old, new)) else {
                at += 1;
                continue;
            };
            let new = self.added.remove(added + found);
            self.removed.remove(at);
            if key(old_source, old) == key(new_source, new) {
                self.same.push((old, new));
            } else {
                self.edited.push((old, new));
            }
            self.inner(old_source, old, new_source, new);
        }
    }

    /// Within a replaced stretch, compound statements of one kind are the same statement edited when most of what they
    /// hold is the same.
    fn replaced(&mut self, old_source: &Source, old: &'o [Stmt], new_source: &Source, new: &'n [Stmt]) {
        let mut rest = new;
        for old in old {
            let found = rest.iter().position(|new| is_edit_of(old_source, old, new_source, new));
            let Some(at) = found else {
                self.removed.push(old);
                continue;
            };
            self.added.extend(&rest[..at]);
            self.edited.push((old, &rest[at]));
            self.inner(old_source, old, new_source, &rest[at]);
            rest = &rest[at + 1..];
        }
        self.added.extend(rest);
    }

    fn inner(&mut self, old_source: &Source, old: &'o Stmt, new_source: &Source, new: &'n Stmt) {
        for (old, new) in walk::all_suites(old).zip(walk::all_suites(new)) {
            self.suites(old_source, old, new_source, new);
        }
    }
}

/// Whether a compound statement may be one of several with its header: an added `if epoch % 2 == 0:` before the script's.
fn is_ambiguous(new: &[Stmt], old_keys: &[String], new_keys: &[String]) -> bool {
    let mut count: FxHashMap<&str, usize> = FxHashMap::default();
    new_keys.iter().for_each(|key| *count.entry(key).or_default() += 1);
    let old: FxHashSet<&str> = old_keys.iter().map(String::as_str).collect();
    new.iter().zip(new_keys).any(|(stmt, key)| {
        count[key.as_str()] > 1 && walk::all_suites(stmt).next().is_some() && old.contains(key.as_str())
    })
}

/// The pairs of statements, in order in both, that have most in common: a longest common subsequence with weights.
fn best_pairs(old: usize, new: usize, weigh: &dyn Fn(usize, usize) -> usize) -> Vec<(usize, usize)> {
    let weights: Vec<Vec<usize>> = (0..old).map(|i| (0..new).map(|j| weigh(i, j)).collect()).collect();
    let mut best = vec![vec![0; new + 1]; old + 1];
    for i in (0..old).rev() {
        for j in (0..new).rev() {
            let paired = if weights[i][j] > 0 { weights[i][j] + best[i + 1][j + 1] } else { 0 };
            best[i][j] = paired.max(best[i + 1][j]).max(best[i][j + 1]);
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < old && j < new {
        if weights[i][j] > 0 && best[i][j] == weights[i][j] + best[i + 1][j + 1] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i][j] == best[i + 1][j] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// How much two statements with equal headers have in common: `ALIKE` when they are the same.
fn in_common(old_source: &Source, old: &Stmt, new_source: &Source, new: &Stmt) -> usize {
    if fold(old_source.slice(old.range)) == fold(new_source.slice(new.range)) {
        return ALIKE;
    }
    let (old_keys, new_keys) = (inner_keys(old_source, old), inner_keys(new_source, new));
    let shared = old_keys.iter().filter(|key| new_keys.contains(key)).count();
    1 + (ALIKE - 2) * shared / old_keys.len().max(1)
}

fn inner_keys(source: &Source, stmt: &Stmt) -> Vec<String> {
    walk::all_suites(stmt).flatten().map(|inner| key(source, inner)).collect()
}

/// Functions or classes of one name.
fn is_same_definition(old: &Stmt, new: &Stmt) -> bool {
    match (&old.kind, &new.kind) {
        (StmtKind::Function(a), StmtKind::Function(b)) => a.name == b.name,
        (StmtKind::Class(a), StmtKind::Class(b)) => a.name == b.name,
        _ => false,
    }
}

fn is_edit_of(old_source: &Source, old: &Stmt, new_source: &Source, new: &Stmt) -> bool {
    if std::mem::discriminant(&old.kind) != std::mem::discriminant(&new.kind) {
        return false;
    }
    match &old.kind {
        StmtKind::Function(_) | StmtKind::Class(_) => is_same_definition(old, new),
        _ => {
            let (old_keys, new_keys) = (inner_keys(old_source, old), inner_keys(new_source, new));
            let shared = old_keys.iter().filter(|key| new_keys.contains(key)).count();
            !old_keys.is_empty() && shared * 2 >= old_keys.len()
        }
    }
}
