//! Freeing what no run refers to, and what runs take.
//!
//! A recording may refer to any pack that it finds, and writes its own packs before the records that name them. So nothing is
//! freed while one goes on. Every recording locks its journal before it passes [`wait`]; whoever frees packs holds that lock
//! while it looks for locked journals and removes files. Files are removed one after another, each of no use to anyone: it
//! may be interrupted anywhere.
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::durable::sync_dir;
use super::index::Index;
use super::journal::{flock, is_written};
use super::layout::Store;
use super::needed::{is_removed, journals, list, named_by, named_by_all};
use super::{ChunkHash, Result, StoreError};

const PATIENCE: Duration = Duration::from_secs(10);
const STEP: Duration = Duration::from_millis(20);

/// What was freed.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Freed {
    /// Files.
    pub files: u64,
    /// Their sizes, in bytes.
    pub bytes: u64,
}

/// What the packs of a store hold for its runs, in bytes.
#[derive(Debug, Default)]
pub struct Usage {
    /// Per run: chunks that it refers to, and those of them that no other run does.
    pub runs: BTreeMap<String, (u64, u64)>,
    /// Packs that no run refers to.
    pub free: u64,
}

/// Waits until nobody frees packs.
///
/// # Errors
/// When that takes more than ten seconds.
pub fn wait(store: &Store) -> Result<()> {
    let packs = store.packs();
    let folder = File::open(&packs).map_err(StoreError::io("open", &packs))?;
    let begun = Instant::now();
    while flock(&folder, libc::LOCK_SH | libc::LOCK_NB).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
        if begun.elapsed() > PATIENCE {
            return Err(StoreError::Busy { path: packs });
        }
        std::thread::sleep(STEP);
    }
    // a process that is cloned meanwhile must not keep the lock
    let _ = flock(&folder, libc::LOCK_UN);
    Ok(())
}

/// Removes packs that no checkpoint of any run needs, and what was left unfinished.
///
/// # Errors
/// When a recording goes on, it cannot be known what a run refers to, or a file cannot be removed.
pub fn gc(store: &Store) -> Result<Freed> {
    let (packs, runs) = (store.packs(), store.root().join("runs"));
    let folder = File::open(&packs).map_err(StoreError::io("open", &packs))?;
    flock(&folder, libc::LOCK_EX | libc::LOCK_NB).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => StoreError::Busy { path: packs.clone() },
        _ => StoreError::io("lock", &packs)(error),
    })?;
    let journals = journals(&runs)?;
    if let Some(path) = journals.iter().find(|path| is_written(path)) {
        return Err(StoreError::Busy { path: path.clone() });
    }
    let needed = named_by_all(&journals)?;
    let mut freed = Freed::default();
    // a run without its journal could not be replayed: what is left of it goes first
    for run in list(&runs)?.iter().filter(|folder| is_removed(folder)) {
        remove_all(run, &mut freed)?;
    }
    let index = Index::open(&packs)?;
    for path in unfinished(&packs)? {
        remove(&path, &mut freed)?;
    }
    // what cannot be read of a pack may be what a run needs, once it is repaired
    let misses = !index.has_all(&needed);
    let mut used: BTreeMap<String, bool> = index.damaged().keys().map(|name| (name.clone(), misses)).collect();
    for (name, packs_of_it) in index.packs_of("") {
        let mut entries = packs_of_it.iter().flat_map(|pack| pack.entries());
        *used.entry(name).or_default() |= entries.any(|entry| needed.contains(&entry.hash));
    }
    for (name, _) in used.iter().filter(|(_, is_used)| !**is_used) {
        remove(&packs.join(name), &mut freed)?;
    }
    sync_dir(&packs)?;
    Ok(freed)
}

/// Packs under temporary names: nobody writes them, as no recording goes on.
fn unfinished(packs: &Path) -> Result<Vec<PathBuf>> {
    let is_unfinished = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy());
        name.is_some_and(|name| name.starts_with('.') && name.ends_with(".tmp"))
    };
    Ok(list(packs)?.into_iter().filter(is_unfinished).collect())
}

fn remove(path: &Path, freed: &mut Freed) -> Result<()> {
    let len = fs::symlink_metadata(path).map_or(0, |found| found.len());
    fs::remove_file(path).map_err(StoreError::io("remove", path))?;
    freed.files += 1;
    freed.bytes += len;
    Ok(())
}

fn remove_all(folder: &Path, freed: &mut Freed) -> Result<()> {
    for path in list(folder)? {
        if fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()) {
            remove_all(&path, freed)?;
        } else {
            remove(&path, freed)?;
        }
    }
    fs::remove_dir(folder).map_err(StoreError::io("remove", folder))
}

/// What each run takes in packs. A run whose journal is damaged counts with what can be read of it.
///
/// # Errors
/// When folders cannot be listed.
pub fn usage(store: &Store) -> Result<Usage> {
    let runs = store.root().join("runs");
    let mut needed: BTreeMap<String, HashSet<ChunkHash>> = BTreeMap::new();
    for path in journals(&runs)? {
        let run = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
        needed.entry(run.unwrap_or_default()).or_default().extend(named_by(&path).unwrap_or_default());
    }
    let mut users: HashMap<ChunkHash, u32> = HashMap::new();
    for hash in needed.values().flatten() {
        *users.entry(*hash).or_default() += 1;
    }
    let index = Index::open(&store.packs())?;
    let mut usage = Usage::default();
    for (run, chunks) in &needed {
        let entry = usage.runs.entry(run.clone()).or_default();
        for hash in chunks {
            let len = index.places(hash).first().map_or(0, |place| place.entry.stored_len);
            entry.0 += len;
            entry.1 += if users.get(hash) == Some(&1) { len } else { 0 };
        }
    }
    for (name, packs) in index.packs_of("") {
        if !packs.iter().flat_map(|pack| pack.entries()).any(|entry| users.contains_key(&entry.hash)) {
            usage.free += fs::metadata(store.packs().join(&name)).map_or(0, |found| found.len());
        }
    }
    Ok(usage)
}
