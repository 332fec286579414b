//! `florc._native.RunReader`.
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::key::key_of;
use crate::encode::MemoryLeaf;
use crate::guard::exceptions::{DamagedError, raise};
use crate::locks::lock;
use crate::store::damage::damage;
use crate::store::fill::{Done, Wanted, fill};
use crate::store::index::{Index, Place};
use crate::store::journal::{End, Journal, Key};
use crate::store::layout::{RunId, Store};
use crate::store::{ChunkHash, Result, StoreError};

/// Reads one rank of one run, also while it is being recorded.
#[pyclass(name = "RunReader", module = "florc._native", frozen)]
pub struct PyRunReader {
    root: PathBuf,
    journal: PathBuf,
    packs: PathBuf,
    /// Once the journal was read.
    end: Mutex<Option<End>>,
    index: Mutex<Option<Index>>,
    key: Option<Key>,
    is_sealed: AtomicBool,
    version: u32,
    chunks_read: AtomicU64,
    bytes_read: AtomicU64,
    found_equal: AtomicU64,
}

#[pymethods]
impl PyRunReader {
    /// `key`: 32 bytes that the journal should be sealed with.
    #[new]
    #[pyo3(signature = (store, run_id, rank=0, key=None))]
    fn new(py: Python<'_>, store: PathBuf, run_id: &str, rank: u32, key: Option<&[u8]>) -> PyResult<PyRunReader> {
        let key = key_of(key)?;
        let opened = py.detach(|| {
            let (store, run) = (Store::open(&store)?, RunId::new(run_id)?);
            let journal = store.journal(&run, rank)?;
            let version = Journal::open(&journal, None)?.version();
            Ok((store.root().to_path_buf(), journal, store.inside("packs")?, version))
        });
        let (root, journal, packs, version) = opened.map_err(raise)?;
        let (end, index) = (Mutex::new(None), Mutex::new(None));
        Ok(PyRunReader {
            root,
            journal,
            packs,
            end,
            index,
            key,
            is_sealed: AtomicBool::new(false),
            version,
            chunks_read: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
            found_equal: AtomicU64::new(0),
        })
    }

    /// The first record, kind and payload; None where there is none.
    fn first(&self, py: Python<'_>) -> PyResult<Option<(String, String)>> {
        let first = py.detach(|| Journal::open(&self.journal, self.key.as_ref())?.next_record()).map_err(raise)?;
        Ok(first.map(|record| (record.kind, record.payload)))
    }

    /// The whole records as pairs of kind and payload, in the order in which they were written.
    /// Looks at the file anew and sets `torn` and `damaged`.
    fn records(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let (records, end, is_sealed) = py.detach(|| read(&self.journal, self.key.as_ref())).map_err(raise)?;
        *lock(&self.end) = Some(end);
        self.is_sealed.store(is_sealed, Ordering::Release);
        Ok(records)
    }

    /// Whether every record that `records` returned was sealed with the key: its holder wrote it.
    #[getter]
    fn sealed(&self) -> bool {
        self.is_sealed.load(Ordering::Acquire)
    }

    /// The version of the journal's format; the records of version 1 have no seals.
    #[getter]
    fn version(&self) -> u32 {
        self.version
    }

    /// What is wrong with packs of the store: name, reason, and whether a run needs what cannot be read. `reads_data`: of every chunk,
    /// else of what lists them.
    #[pyo3(signature = (reads_data=true))]
    fn check_packs(&self, py: Python<'_>, reads_data: bool) -> PyResult<Vec<(String, String, bool)>> {
        let found = py.detach(|| damage(&self.root, &self.packs, reads_data)).map_err(raise)?;
        Ok(found.into_iter().map(|one| (one.pack, one.why, one.is_needed)).collect())
    }

    /// Where and why the journal, as `records` found it, ends with an unfinished record, as after a crash or while it is
    /// being written; or None.
    #[getter]
    fn torn(&self, py: Python<'_>) -> Option<String> {
        match py.detach(|| self.ending()) {
            End::Torn { offset, why } => Some(format!("byte {offset}: {why}")),
            _ => None,
        }
    }

    /// Where and why the journal cannot be read to its end; or None.
    #[getter]
    fn damaged(&self, py: Python<'_>) -> Option<String> {
        match py.detach(|| self.ending()) {
            End::Damaged { offset, why } => Some(format!("byte {offset}: {why}")),
            _ => None,
        }
    }

    /// The bytes with this hash. Raises DamagedError when no pack holds them intact.
    fn read_chunk<'py>(&self, py: Python<'py>, hash: &str) -> PyResult<Bound<'py, PyBytes>> {
        let hash = parse(hash)?;
        let places = py.detach(|| self.places(&hash)).map_err(raise)?;
        let mut failures = Vec::new();
        for place in places {
            // checked against the length of the stored bytes when the pack was opened
            let len = usize::try_from(place.entry.raw_len).map_err(|_| PyValueError::new_err("too long"))?;
            let read = |buffer: &mut [u8]| py.detach(|| place.pack.read(&place.entry, buffer)).map_err(raise);
            match PyBytes::new_with(py, len, read) {
                Ok(bytes) => {
                    self.count(Done { chunks: 1, bytes: len as u64, equal: 0 });
                    return Ok(bytes);
                }
                Err(error) => failures.push(error),
            }
        }
        Err(failures.into_iter().next().unwrap_or_else(|| self.missing(&hash)))
    }

    /// Bring chunks to where they belong: pairs of hash and memory, which must not overlap; where the third is true, the memory
    /// may hold the chunk already, and nothing is read if it does. Raises DamagedError when no pack holds one intact; then the
    /// memory may hold anything. Uses all cores, and leaves no thread behind.
    fn fill(&self, py: Python<'_>, wanted: Vec<(String, Py<MemoryLeaf>, bool)>) -> PyResult<()> {
        let mut parts = Vec::with_capacity(wanted.len());
        let mut spans: Vec<(usize, usize)> = wanted.iter().map(|(_, memory, _)| memory.get().span()).collect();
        spans.retain(|(_, len)| *len > 0);
        spans.sort_unstable();
        if spans.windows(2).any(|pair| pair[0].0 + pair[0].1 > pair[1].0) {
            return Err(PyValueError::new_err("memory that overlaps cannot be filled"));
        }
        for (hash, memory, may_be_there) in &wanted {
            parts.push((parse(hash)?, memory.get().span(), *may_be_there));
        }
        let done = py.detach(|| {
            let mut all = Vec::with_capacity(parts.len());
            for (hash, (address, len), may_be_there) in parts {
                if len == 0 {
                    continue;
                }
                // SAFETY: `wanted` holds the owners of the memory, whose bytes may be written; no two spans overlap; the
                // program's own code waits until this returns
                let memory = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, len) };
                all.push(Wanted { hash, places: self.places(&hash)?, memory: Some(memory), may_be_there });
            }
            fill(all)
        });
        self.count(done.map_err(raise)?);
        Ok(())
    }

    /// Reads chunks and checks their hashes. Raises DamagedError when no pack holds one intact.
    fn check_chunks(&self, py: Python<'_>, hashes: Vec<String>) -> PyResult<()> {
        let hashes = hashes.iter().map(|hash| parse(hash)).collect::<PyResult<Vec<_>>>()?;
        let done = py.detach(|| {
            let wanted = hashes
                .iter()
                .map(|hash| Ok(Wanted { hash: *hash, places: self.places(hash)?, memory: None, may_be_there: false }));
            fill(wanted.collect::<Result<Vec<_>>>()?)
        });
        self.count(done.map_err(raise)?);
        Ok(())
    }

    /// Looks chunks up and reads none. Raises DamagedError when no readable pack lists one, or only files that end before it.
    fn find_chunks(&self, py: Python<'_>, hashes: Vec<String>) -> PyResult<()> {
        for hash in &hashes {
            let hash = parse(hash)?;
            let places = py.detach(|| self.places(&hash)).map_err(raise)?;
            let Some(first) = places.first() else { return Err(self.missing(&hash)) };
            if !places.iter().any(|place| place.pack.reaches(&place.entry)) {
                let told =
                    format!("chunk {hash} in {} is damaged: the file ends before it", first.pack.path().display());
                return Err(DamagedError::new_err(told));
            }
        }
        Ok(())
    }

    /// How many chunks were read so far, how many bytes they had, and how many were where they belong.
    #[getter]
    fn read_so_far(&self) -> (u64, u64, u64) {
        let [chunks, bytes, equal] =
            [&self.chunks_read, &self.bytes_read, &self.found_equal].map(|count| count.load(Ordering::Relaxed));
        (chunks, bytes, equal)
    }

    /// Whether some readable pack lists the hash.
    fn has_chunk(&self, py: Python<'_>, hash: &str) -> PyResult<bool> {
        let hash = parse(hash)?;
        py.detach(|| self.places(&hash)).map(|places| !places.is_empty()).map_err(raise)
    }

    /// The packs of the store that cannot be read, as pairs of name and reason.
    fn damaged_packs(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let damaged = py.detach(|| {
            let mut slot = lock(&self.index);
            let index = open_index(&mut slot, &self.packs)?;
            index.refresh()?;
            Ok(index.damaged().iter().map(|(name, why)| (name.clone(), why.clone())).collect())
        });
        damaged.map_err(raise)
    }
}

impl PyRunReader {
    fn count(&self, done: Done) {
        self.chunks_read.fetch_add(done.chunks, Ordering::Relaxed);
        self.bytes_read.fetch_add(done.bytes, Ordering::Relaxed);
        self.found_equal.fetch_add(done.equal, Ordering::Relaxed);
    }

    /// How the journal ends.
    fn ending(&self) -> End {
        let mut end = lock(&self.end);
        // one that cannot be read says so to whoever asks for its records
        end.get_or_insert_with(|| read(&self.journal, None).map_or(End::Whole, |(_, end, _)| end)).clone()
    }

    fn places(&self, hash: &ChunkHash) -> Result<Vec<Place>> {
        let mut slot = lock(&self.index);
        let index = open_index(&mut slot, &self.packs)?;
        if !index.contains(hash) {
            // the run may be going on
            index.refresh()?;
        }
        Ok(index.places(hash))
    }

    fn missing(&self, hash: &ChunkHash) -> PyErr {
        let slot = lock(&self.index);
        let unreadable: Vec<&str> =
            slot.iter().flat_map(|index| index.damaged().values()).map(String::as_str).collect();
        let mut message = format!("chunk {hash} is in no readable pack of {}", self.packs.display());
        if let Some(first) = unreadable.first() {
            message.push_str(&format!("; not readable: {first}"));
        }
        if unreadable.len() > 1 {
            message.push_str(&format!(" (and {} more)", unreadable.len() - 1));
        }
        DamagedError::new_err(message)
    }
}

fn open_index<'a>(slot: &'a mut Option<Index>, packs: &std::path::Path) -> Result<&'a mut Index> {
    match slot {
        Some(index) => Ok(index),
        None => Ok(slot.insert(Index::open(packs)?)),
    }
}

type Read = (Vec<(String, String)>, End, bool);

fn read(path: &std::path::Path, key: Option<&Key>) -> std::result::Result<Read, StoreError> {
    let mut journal = Journal::open(path, key)?;
    let mut records = Vec::new();
    while let Some(record) = journal.next_record()? {
        records.push((record.kind, record.payload));
    }
    let end = journal.end().cloned().unwrap_or(End::Whole);
    Ok((records, end, journal.is_sealed()))
}

fn parse(hash: &str) -> PyResult<ChunkHash> {
    ChunkHash::parse(hash).ok_or_else(|| PyValueError::new_err("a hash has 64 hexadecimal digits"))
}
