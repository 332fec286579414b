//! `florc._native.RunReader`.
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::key::key_of;
use crate::guard::exceptions::{DamagedError, raise};
use crate::locks::lock;
use crate::store::index::{Index, Place};
use crate::store::journal::{End, Journal, Key};
use crate::store::layout::{RunId, Store};
use crate::store::{ChunkHash, Result, StoreError};

/// Reads one rank of one run, also while it is being recorded.
#[pyclass(name = "RunReader", module = "florc._native", frozen)]
pub struct PyRunReader {
    journal: PathBuf,
    packs: PathBuf,
    /// Once the journal was read.
    end: Mutex<Option<End>>,
    index: Mutex<Option<Index>>,
    key: Option<Key>,
    is_sealed: AtomicBool,
    version: u32,
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
            Ok((journal, store.inside("packs")?, version))
        });
        let (journal, packs, version) = opened.map_err(raise)?;
        let (end, index) = (Mutex::new(None), Mutex::new(None));
        Ok(PyRunReader { journal, packs, end, index, key, is_sealed: AtomicBool::new(false), version })
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

    /// Reads every chunk of every pack. Returns per pack what is wrong with it, as pairs of name and reason.
    fn check_packs(&self, py: Python<'_>) -> PyResult<Vec<(String, String)>> {
        let checked = py.detach(|| -> Result<Vec<(String, String)>> {
            let index = Index::open(&self.packs)?;
            let mut found: Vec<_> = index.damaged().iter().map(|(name, why)| (name.clone(), why.clone())).collect();
            for (name, pack) in index
                .packs_of("")
                .into_iter()
                .flat_map(|(name, packs)| packs.into_iter().map(move |pack| (name.clone(), pack)))
            {
                for entry in pack.entries() {
                    let len = usize::try_from(entry.raw_len).unwrap_or(usize::MAX);
                    let mut buffer = Vec::new();
                    // a pack may claim more than there is memory
                    let read = match buffer.try_reserve_exact(len) {
                        Ok(()) => {
                            buffer.resize(len, 0);
                            pack.read(entry, &mut buffer).map_err(|error| error.to_string())
                        }
                        Err(error) => Err(format!("chunk {} cannot be read: {error}", entry.hash)),
                    };
                    if let Err(why) = read {
                        found.push((name.clone(), why));
                    }
                }
            }
            Ok(found)
        });
        checked.map_err(raise)
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
                Ok(bytes) => return Ok(bytes),
                Err(error) => failures.push(error),
            }
        }
        Err(failures.into_iter().next().unwrap_or_else(|| self.missing(&hash)))
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
