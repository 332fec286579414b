//! Which chunks the runs of a store refer to.
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::journal::{End, Journal};
use super::{ChunkHash, Result, StoreError};

/// The kind of the record that makes a checkpoint exist.
pub const CHECKPOINT: &str = "checkpoint";
/// The kind of the record that says which checkpoints exist no more.
pub const DROPPED: &str = "dropped";
/// What the folder of a run that is being removed ends with; it begins with a dot.
pub const REMOVED: &str = ".removed";

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

/// Whether the folder is that of a run that is being removed.
pub fn is_removed(folder: &Path) -> bool {
    let name = folder.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.starts_with('.') && name.ends_with(REMOVED))
}

/// Every journal of the runs in the folder `runs`, but for those of runs that are being removed.
///
/// # Errors
/// When a folder cannot be listed: then what its journals refer to is not known.
pub fn journals(runs: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for run in list(runs)? {
        // what is no folder holds no journal
        if run.is_dir() && !is_removed(&run) {
            let is_journal = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == "journal");
            found.extend(list(&run)?.into_iter().filter(is_journal));
        }
    }
    found.sort();
    Ok(found)
}

/// The chunks of the checkpoints that exist of any of these runs.
///
/// # Errors
/// When not all of them can be known: then nothing may be removed.
pub fn named_by_all(journals: &[PathBuf]) -> Result<HashSet<ChunkHash>> {
    let mut needed = HashSet::new();
    for path in journals {
        needed.extend(named_by(path)?);
    }
    Ok(needed)
}

/// What is in a folder.
///
/// # Errors
/// When it cannot be listed.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    entries.map_err(StoreError::io("list", folder))
}

/// The chunks of the checkpoints that exist.
///
/// # Errors
/// When not all of them can be known: then nothing may be removed.
pub fn named_by(path: &Path) -> Result<HashSet<ChunkHash>> {
    let mut journal = Journal::open(path, None)?;
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
