//! Who derives from whom, across the files of a project.

use super::names::Names;
use crate::name::Name as Text;
use crate::scopes::ScopeId;
use rustc_hash::FxHashMap;

/// Who derives from whom; computed once, when every file is indexed.
#[derive(Debug, Default)]
pub(super) struct Families {
    /// A class and its bases, nearest first.
    lineage: FxHashMap<ScopeId, Vec<ScopeId>>,
    /// A class and what is derived from it, at any distance.
    derived: FxHashMap<ScopeId, Vec<ScopeId>>,
    /// Methods of every class by name.
    methods: FxHashMap<Text, Vec<ScopeId>>,
}

impl Families {
    pub fn new(names: Names) -> Self {
        let mut families = Families::default();
        for (&class, info) in &names.index.classes {
            let lineage = lineage(names, class);
            for &base in &lineage {
                families.derived.entry(base).or_default().push(class);
            }
            families.lineage.insert(class, lineage);
            for (name, &method) in &info.methods {
                families.methods.entry(*name).or_default().push(method);
            }
        }
        families
    }

    /// A class and the bases of it that the project defines, nearest first.
    pub fn lineage(&self, class: ScopeId) -> &[ScopeId] {
        self.lineage.get(&class).map_or(&[], Vec::as_slice)
    }

    /// A class and those derived from it.
    pub fn family(&self, class: ScopeId) -> &[ScopeId] {
        self.derived.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Every method of this name.
    pub fn methods_named(&self, name: Text) -> &[ScopeId] {
        self.methods.get(&name).map_or(&[], Vec::as_slice)
    }
}

fn lineage(names: Names, class: ScopeId) -> Vec<ScopeId> {
    let mut found = vec![class];
    let mut at = 0;
    while let Some(&class) = found.get(at) {
        let around = names.scopes.list[class].parent.unwrap_or(class);
        let bases = names.index.classes.get(&class).into_iter().flat_map(|info| &info.bases);
        for base in bases.filter_map(|base| names.class_denoted(around, base)) {
            if !found.contains(&base) {
                found.push(base);
            }
        }
        at += 1;
    }
    found
}
