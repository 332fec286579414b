//! Which pack holds a chunk.
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::chunk::ChunkHash;
use super::durable::sync_dir;
use super::error::{Result, StoreError};
use super::pack::{self, Pack};

/// The chunks of all packs of a store, by hash.
#[derive(Debug)]
pub struct Index {
    packs_dir: PathBuf,
    /// By name; one that others append to is there several times, with what was found at a time.
    packs: BTreeMap<String, Vec<Arc<Pack>>>,
    damaged: BTreeMap<String, String>,
    /// One place per chunk; a second pack with the same chunk is in `spare`.
    found: HashMap<ChunkHash, Place>,
    spare: HashMap<ChunkHash, Vec<Place>>,
}

/// A chunk's place.
#[derive(Debug, Clone)]
pub struct Place {
    /// The pack that holds the chunk.
    pub pack: Arc<Pack>,
    /// The chunk's line in the index of that pack.
    pub entry: pack::Entry,
}

impl Index {
    /// Reads the index of every pack in the folder. A pack that cannot be read is left out and
    /// named by [`Index::damaged`].
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn open(packs_dir: &Path) -> Result<Index> {
        let mut index = Index {
            packs_dir: packs_dir.to_path_buf(),
            packs: BTreeMap::new(),
            damaged: BTreeMap::new(),
            found: HashMap::new(),
            spare: HashMap::new(),
        };
        index.refresh()?;
        Ok(index)
    }

    /// Makes the names of the packs that were found durable, so that a new checkpoint may rely on
    /// them.
    ///
    /// # Errors
    /// When the folder cannot be synced.
    pub fn make_durable(&self) -> Result<()> {
        sync_dir(&self.packs_dir)
    }

    /// Adds the packs that appeared since the last look.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn refresh(&mut self) -> Result<()> {
        let listing = StoreError::io("list", &self.packs_dir);
        let mut names = Vec::new();
        let entries = fs::read_dir(&self.packs_dir).and_then(|entries| {
            for entry in entries {
                names.push(entry?.file_name());
            }
            Ok(())
        });
        entries.map_err(listing)?;
        for name in names {
            let Some(name) = name.to_str().filter(|name| name.ends_with(".pack") && !name.starts_with('.')) else {
                continue;
            };
            if self.packs.get(name).is_some_and(|known| known.iter().any(|pack| pack.has_grown())) {
                self.remove(name);
            }
            if !self.packs.contains_key(name) {
                match Pack::open(&self.packs_dir.join(name)) {
                    Ok(pack) => self.add(pack),
                    Err(error) => {
                        self.damaged.insert(name.to_string(), error.to_string());
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds one opened pack.
    pub fn add(&mut self, pack: Pack) {
        let name = pack.path().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.damaged.remove(&name);
        if let Some(why) = pack.damage() {
            self.damaged.insert(name.clone(), why.to_string());
        }
        let pack = Arc::new(pack);
        for entry in pack.entries() {
            let place = Place { pack: Arc::clone(&pack), entry: *entry };
            match self.found.entry(entry.hash) {
                Entry::Vacant(slot) => {
                    slot.insert(place);
                }
                Entry::Occupied(_) => self.spare.entry(entry.hash).or_default().push(place),
            }
        }
        self.packs.entry(name).or_default().push(pack);
    }

    /// Forgets a pack, whose file is about to be removed. Chunks that other packs hold too are found there.
    pub fn remove(&mut self, name: &str) {
        for pack in self.packs.remove(name).unwrap_or_default() {
            self.forget(&pack);
        }
    }

    fn forget(&mut self, pack: &Arc<Pack>) {
        for entry in pack.entries() {
            let mut left = self.places(&entry.hash);
            left.retain(|place| !Arc::ptr_eq(&place.pack, pack));
            self.found.remove(&entry.hash);
            self.spare.remove(&entry.hash);
            if !left.is_empty() {
                self.found.insert(entry.hash, left.remove(0));
            }
            if !left.is_empty() {
                self.spare.insert(entry.hash, left);
            }
        }
    }

    /// The packs whose names begin so.
    pub fn packs_of(&self, prefix: &str) -> Vec<(String, Vec<Arc<Pack>>)> {
        let own = self.packs.iter().filter(|(name, _)| name.starts_with(prefix));
        own.map(|(name, packs)| (name.clone(), packs.clone())).collect()
    }

    /// Whether some pack lists the chunk.
    pub fn contains(&self, hash: &ChunkHash) -> bool {
        self.found.contains_key(hash)
    }

    /// Whether some pack lists each of these chunks.
    pub fn has_all(&self, hashes: &HashSet<ChunkHash>) -> bool {
        hashes.iter().all(|hash| self.contains(hash))
    }

    /// Every place of a chunk, the first found first.
    pub fn places(&self, hash: &ChunkHash) -> Vec<Place> {
        let first = self.found.get(hash).into_iter();
        first.chain(self.spare.get(hash).into_iter().flatten()).cloned().collect()
    }

    /// The packs that could not be read: name and reason.
    pub fn damaged(&self) -> &BTreeMap<String, String> {
        &self.damaged
    }

    /// The names of the readable packs.
    pub fn pack_names(&self) -> impl Iterator<Item = &str> {
        self.packs.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pack::PackWriter;
    use super::*;

    fn pack(dir: &Path, name: &str, chunks: &[&[u8]]) {
        let mut writer = PackWriter::create(dir, name, 0).unwrap();
        for chunk in chunks {
            writer.add(ChunkHash::of(chunk), chunk).unwrap();
        }
        writer.finish().unwrap();
    }

    #[test]
    fn damaged_packs_are_left_out_and_named() {
        let dir = tempfile::tempdir().unwrap();
        pack(dir.path(), "a.pack", &[b"one", b"two"]);
        pack(dir.path(), "b.pack", &[b"two", b"three"]);
        fs::write(dir.path().join("c.pack"), b"nothing").unwrap();
        fs::write(dir.path().join(".d.pack.1-1.tmp"), b"unfinished").unwrap();
        let mut index = Index::open(dir.path()).unwrap();
        assert_eq!(index.damaged().keys().collect::<Vec<_>>(), ["c.pack"]);
        assert_eq!(index.places(&ChunkHash::of(b"two")).len(), 2);
        assert!(index.contains(&ChunkHash::of(b"three")) && !index.contains(&ChunkHash::of(b"four")));
        pack(dir.path(), "e.pack", &[b"four"]);
        index.refresh().unwrap();
        assert!(index.contains(&ChunkHash::of(b"four")));
        assert_eq!(index.pack_names().count(), 3);
        index.remove("a.pack");
        assert!(!index.contains(&ChunkHash::of(b"one")) && index.contains(&ChunkHash::of(b"two")));
        index.remove("b.pack");
        assert!(!index.contains(&ChunkHash::of(b"two")) && index.contains(&ChunkHash::of(b"four")));
    }
}
