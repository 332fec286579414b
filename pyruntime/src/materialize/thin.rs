//! Dropping checkpoints, so that a run stays within its share of the disk.
//!
//! The journal says so first, durably; then packs are removed that no checkpoint needs any more. A power cut between the two
//! costs space and nothing else.
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::commit::{CHECKPOINT, Committer};
use crate::store::journal::{End, Journal, is_written};
use crate::store::{ChunkHash, Result, StoreError};

/// The kind of the record that says which checkpoints exist no more.
pub const DROPPED: &str = "dropped";

#[derive(Deserialize)]
struct Checkpoint {
    seq: u64,
    chunks: Vec<Chunk>,
}

#[derive(Deserialize)]
struct Chunk {
    hash: String,
}

#[derive(Deserialize)]
struct Dropped {
    seqs: Vec<u64>,
}

impl Committer {
    /// Writes the record and removes what it frees; returns how many bytes of packs that was. A failure costs space only.
    pub fn drop_checkpoints(&mut self, payload: &str) -> u64 {
        let before = self.journal.records();
        let said = self.journal.append(DROPPED, payload).and_then(|()| self.journal.sync());
        match said.and_then(|()| self.remove_unneeded()) {
            Ok(freed) => freed,
            Err(error) => {
                if self.journal.records() <= before {
                    self.count_losses(before + 1, &error);
                }
                0
            }
        }
    }

    fn remove_unneeded(&mut self) -> Result<u64> {
        let own = self.journal.path().to_path_buf();
        let journals = journals(&own)?;
        // another recorder may be about to name chunks of ours: it has looked at our packs and sees no removal
        if journals.iter().any(|path| *path != own && is_written(path)) {
            return Ok(0);
        }
        let mut needed = HashSet::new();
        for path in &journals {
            needed.extend(named_by(path)?);
        }
        let Some(index) = &mut self.index else { return Ok(0) };
        let mut freed = 0;
        for (name, pack) in index.packs_of(&self.pack_prefix) {
            if pack.entries().iter().any(|entry| needed.contains(&entry.hash)) {
                continue;
            }
            let path = self.packs_dir.join(&name);
            let len = fs::metadata(&path).map_or(0, |found| found.len());
            // before the file: nothing may refer to chunks that are gone
            index.remove(&name);
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
            freed += len;
        }
        Ok(freed)
    }
}

/// Every journal of the store, whose folder `runs` holds the folder of `own`.
fn journals(own: &Path) -> Result<Vec<PathBuf>> {
    let runs = own.parent().and_then(Path::parent).unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for run in list(runs)? {
        // what is no folder holds no journal
        let files = list(&run).unwrap_or_default();
        let is_journal = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "journal");
        found.extend(files.into_iter().filter(is_journal));
    }
    Ok(found)
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    entries.map_err(StoreError::io("list", folder))
}

/// The chunks of the checkpoints that exist.
///
/// # Errors
/// When not all of them can be known: then nothing may be removed.
fn named_by(path: &Path) -> Result<HashSet<ChunkHash>> {
    let mut journal = Journal::open(path)?;
    let (mut checkpoints, mut dropped) = (Vec::new(), HashSet::new());
    let unclear = |why: String| StoreError::damaged("a record", path, why);
    while let Some(record) = journal.next_record()? {
        if record.kind == CHECKPOINT {
            let found = serde_json::from_str::<Checkpoint>(&record.payload);
            checkpoints.push(found.map_err(|error| unclear(error.to_string()))?);
        } else if record.kind == DROPPED {
            let found = serde_json::from_str::<Dropped>(&record.payload);
            dropped.extend(found.map_err(|error| unclear(error.to_string()))?.seqs);
        }
    }
    if let Some(End::Damaged { why, .. }) = journal.end() {
        return Err(unclear(why.clone()));
    }
    let mut needed = HashSet::new();
    for checkpoint in checkpoints.iter().filter(|found| !dropped.contains(&found.seq)) {
        for chunk in &checkpoint.chunks {
            needed.insert(ChunkHash::parse(&chunk.hash).ok_or_else(|| unclear("a hash is none".to_string()))?);
        }
    }
    Ok(needed)
}
