//! What is damaged of the packs of a store, and whether a run needs it.
use std::path::Path;

use super::Result;
use super::index::Index;
use super::needed::{journals, named_by_all};

/// What is wrong with a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Its name.
    pub pack: String,
    /// What is wrong.
    pub why: String,
    /// Whether a run needs what cannot be read of it, as far as is known.
    pub is_needed: bool,
}

/// What is damaged of the packs of a store. `reads_data`: of every chunk, else of what lists them.
///
/// # Errors
/// When the folder of the packs cannot be listed.
pub fn damage(root: &Path, packs: &Path, reads_data: bool) -> Result<Vec<Damage>> {
    let index = Index::open(packs)?;
    // what the runs need is known only where every journal can be read
    let needed = journals(&root.join("runs")).and_then(|found| named_by_all(&found)).ok();
    let misses = !needed.as_ref().is_some_and(|needed| index.has_all(needed));
    let unreadable = index.damaged().iter();
    let mut found: Vec<Damage> =
        unreadable.map(|(pack, why)| Damage { pack: pack.clone(), why: why.clone(), is_needed: misses }).collect();
    if reads_data {
        for (name, packs) in index.packs_of("") {
            for (pack, entry) in packs.iter().flat_map(|pack| pack.entries().iter().map(move |entry| (pack, entry))) {
                if let Err(why) = pack.check(entry) {
                    let is_needed = needed.as_ref().is_none_or(|needed| needed.contains(&entry.hash));
                    found.push(Damage { pack: name.clone(), why, is_needed });
                }
            }
        }
    }
    Ok(found)
}
