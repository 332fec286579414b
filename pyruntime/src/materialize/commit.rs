//! From staged bytes to a durable checkpoint.
use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::record::{check_header, record};
use super::staged::Staged;
use super::wire::Done;
use crate::store::durable::create_dirs;
use crate::store::gc;
use crate::store::index::Index;
use crate::store::journal::{JournalWriter, Key};
use crate::store::layout::{RunId, Store};
use crate::store::pack::{Pack, PackWriter, SharedPack, thread_cpu_s};
use crate::store::{ChunkHash, Result, StoreError};

pub use crate::store::needed::CHECKPOINT;

/// So many packs of a run hold one checkpoint each, however small: most runs have no more.
const OWN_PACKS: u64 = 16;
/// Checkpoints of at most so many new bytes share a pack after that.
const SMALL: usize = 64 << 10;

/// Writes the checkpoints and records of one rank of one run.
#[derive(Debug)]
pub struct Committer {
    pub(super) packs_dir: PathBuf,
    pub(super) pack_prefix: String,
    next_pack: u64,
    next_seq: u64,
    /// Opened with the first checkpoint, which is in the background.
    pub(super) index: Option<Index>,
    pub(super) journal: JournalWriter,
    /// Whether small checkpoints may share packs: then they cannot be dropped one by one.
    shares: bool,
    shared: Option<SharedPack>,
    lost: u64,
    /// How many of these the journal speaks of, and the records that do and are not in the file yet.
    told: u64,
    telling: u64,
    first_loss: Option<String>,
}

/// The chunks of a checkpoint that is being written.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    chunks: Vec<(ChunkHash, usize)>,
    /// Those that are in its pack, or will be: each once.
    fresh: BTreeSet<ChunkHash>,
    pack: Option<PackWriter>,
}

impl Gathering {
    /// A chunk is complete whose bytes were added one after the other.
    pub fn end_chunk(&mut self, hash: ChunkHash, len: usize) {
        self.chunks.push((hash, len));
        self.fresh.insert(hash);
        if let Some(pack) = &mut self.pack {
            pack.end_chunk(hash);
        }
    }
}

#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}

impl Committer {
    /// Opens the journal of `rank` of `run`, creating the run's folder when it is missing.
    ///
    /// # Errors
    /// When files cannot be created, or the journal is damaged or being written by another process.
    pub fn open(store: &Store, run: &RunId, rank: u32, key: Option<&Key>) -> Result<Committer> {
        create_dirs(&store.run_dir(run)?)?;
        let mut next_seq = 0;
        let journal = JournalWriter::open(&store.journal(run, rank)?, key, |record| {
            if record.kind == CHECKPOINT
                && let Ok(found) = serde_json::from_str::<Numbered>(&record.payload)
            {
                next_seq = next_seq.max(found.seq.saturating_add(1));
            }
        })?;
        // the journal is locked by now: whoever frees packs either sees that, or is waited for
        gc::wait(store)?;
        let (packs_dir, pack_prefix) = (store.packs(), run.pack_prefix(rank));
        let next_pack = next_pack(&packs_dir, &pack_prefix)?;
        Ok(Committer {
            packs_dir,
            pack_prefix,
            next_pack,
            next_seq,
            index: None,
            journal,
            shares: false,
            shared: None,
            lost: 0,
            told: 0,
            telling: 0,
            first_loss: None,
        })
    }

    /// Lets small checkpoints share packs.
    #[must_use]
    pub fn sharing(mut self, shares: bool) -> Committer {
        self.shares = shares;
        self
    }

    /// The number that the next checkpoint should have.
    pub fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// Writes one staged checkpoint and its record.
    pub fn commit(&mut self, seq: u64, extent: Option<&[u8]>) -> Done {
        let start = thread_cpu_s();
        let mut done = Done { seq, ..Done::default() };
        match self.try_commit(seq, extent, &mut done) {
            Ok(()) => {}
            Err(error) => {
                done.errno = error.errno();
                done.error = Some(error.to_string());
            }
        }
        done.cpu_s += thread_cpu_s() - start;
        done
    }

    fn try_commit(&mut self, seq: u64, extent: Option<&[u8]>, done: &mut Done) -> Result<()> {
        let staged = extent.and_then(Staged::parse);
        let staged = staged.ok_or_else(|| self.refused("the staged bytes are not laid out as they must be"))?;
        check_header(staged.header).map_err(|why| self.refused(&why))?;
        // first, so that a failure of earlier records is not taken for one of this checkpoint
        self.flush();
        let gathering = self.write_chunks(&staged.parts, done)?;
        self.conclude(gathering, staged.header, seq, done)
    }

    fn refused(&self, why: &str) -> StoreError {
        StoreError::damaged("a staged checkpoint", Path::new(&self.pack_prefix), why)
    }

    /// Writes every part that the store does not have, to at most one new pack. A large pack is written while the parts that follow
    /// are hashed.
    fn write_chunks(&mut self, parts: &[&[u8]], done: &mut Done) -> Result<Gathering> {
        let mut left: u64 = parts.iter().map(|part| part.len() as u64).sum();
        let (mut gathering, mut few, mut bytes) = (Gathering::default(), Vec::new(), 0);
        for part in parts {
            let hash = ChunkHash::of(part);
            if self.is_fresh(&mut gathering, hash, part.len())? {
                few.push((hash, *part));
                bytes += part.len();
            }
            if !few.is_empty() && !self.is_shared(bytes) {
                let pack = self.pack_of(&mut gathering, left)?;
                few.drain(..).try_for_each(|(hash, part)| pack.add(hash, part))?;
            }
            left -= part.len() as u64;
        }
        if !few.is_empty() {
            let (pack, size) = self.share_pack(&few)?;
            done.bytes_written = size;
            open_index(&mut self.index, &self.packs_dir)?.add(pack);
        }
        Ok(gathering)
    }

    /// Notes a chunk of a checkpoint. Whether it is to be written: nothing has it yet.
    fn is_fresh(&mut self, gathering: &mut Gathering, hash: ChunkHash, len: usize) -> Result<bool> {
        gathering.chunks.push((hash, len));
        Ok(!open_index(&mut self.index, &self.packs_dir)?.contains(&hash) && gathering.fresh.insert(hash))
    }

    /// The pack that a checkpoint is written to, made when it is first asked for; about so many bytes are expected.
    fn pack_of<'a>(&mut self, gathering: &'a mut Gathering, expected: u64) -> Result<&'a mut PackWriter> {
        match &mut gathering.pack {
            Some(pack) => Ok(pack),
            slot => {
                let name = self.next_name();
                Ok(slot.insert(PackWriter::create(&self.packs_dir, &name, expected)?))
            }
        }
    }

    /// Adds a chunk of a checkpoint whose parts arrive one after the other; so many bytes follow.
    pub(super) fn gather(&mut self, gathering: &mut Gathering, hash: ChunkHash, bytes: &[u8], left: u64) -> Result<()> {
        if self.is_fresh(gathering, hash, bytes.len())? {
            self.pack_of(gathering, left)?.add(hash, bytes)?;
        }
        Ok(())
    }

    /// Adds a chunk of which only the name is given. False where nothing has it.
    pub(super) fn gather_known(&mut self, gathering: &mut Gathering, hash: ChunkHash, len: usize) -> Result<bool> {
        let is_known = gathering.fresh.contains(&hash) || open_index(&mut self.index, &self.packs_dir)?.contains(&hash);
        if is_known {
            gathering.chunks.push((hash, len));
        }
        Ok(is_known)
    }

    /// Adds bytes of a chunk that is complete with [`Gathering::end_chunk`].
    pub(super) fn gather_part(&mut self, gathering: &mut Gathering, bytes: &[u8], left: u64) -> Result<()> {
        self.pack_of(gathering, left)?.add_to_chunk(bytes)
    }

    /// Makes what was gathered durable, then the record of the checkpoint.
    pub(super) fn conclude(&mut self, gathering: Gathering, header: &str, seq: u64, done: &mut Done) -> Result<()> {
        check_header(header).map_err(|why| self.refused(&why))?;
        let chunks = self.finish_pack(gathering, done)?;
        self.journal.append(CHECKPOINT, &record(header, &chunks, seq))?;
        self.journal.sync()
    }

    fn finish_pack(&mut self, gathering: Gathering, done: &mut Done) -> Result<Vec<(ChunkHash, usize)>> {
        if let Some(pack) = gathering.pack {
            let written = pack.finish()?;
            done.bytes_written = written.bytes;
            done.cpu_s += written.aside_s;
            open_index(&mut self.index, &self.packs_dir)?.add(written.pack);
        }
        Ok(gathering.chunks)
    }

    /// Whether a checkpoint of so many new bytes shares a pack with others.
    fn is_shared(&self, bytes: usize) -> bool {
        self.shares && self.next_pack >= OWN_PACKS && bytes <= SMALL
    }

    /// A name is used once, whatever becomes of the file.
    fn next_name(&mut self) -> String {
        let name = format!("{}{}.pack", self.pack_prefix, self.next_pack);
        self.next_pack += 1;
        name
    }

    /// The journal is synced after the pack, for each checkpoint, as with packs of their own.
    fn share_pack(&mut self, fresh: &[(ChunkHash, &[u8])]) -> Result<(Pack, u64)> {
        Ok(match self.shared.take().filter(|shared| !shared.is_over()) {
            Some(mut shared) => {
                let added = shared.append(fresh)?;
                self.shared = Some(shared);
                added
            }
            None => {
                let name = self.next_name();
                let (shared, pack, size) = SharedPack::create(&self.packs_dir, &name, fresh)?;
                self.shared = Some(shared);
                (pack, size)
            }
        })
    }

    /// Takes a record for the journal; a failure is kept for [`Committer::losses`].
    pub fn log(&mut self, kind: &str, payload: &str) {
        self.tell_losses();
        let before = self.journal.records();
        if let Err(error) = self.journal.append(kind, payload) {
            self.count_losses(before + 1, &error);
        }
    }

    /// Writes the gathered records to the file, where they survive the end of this process.
    pub fn flush(&mut self) {
        let before = self.journal.records();
        match self.journal.flush() {
            Ok(()) => self.telling = 0,
            Err(error) => self.count_losses(before, &error),
        }
    }

    /// Where records could not be written, the next one says so: what is missing is no less than what is damaged.
    fn tell_losses(&mut self) {
        if self.told < self.lost && self.journal.append("lost", &format!("{{\"records\": {}}}", self.lost)).is_ok() {
            self.told = self.lost;
            self.telling += 1;
        }
    }

    /// Makes all records durable and lets go of the journal.
    pub fn finish(&mut self) {
        self.tell_losses();
        let before = self.journal.records();
        if let Err(error) = self.journal.sync() {
            self.count_losses(before, &error);
        }
        self.journal.release();
    }

    pub(super) fn count_losses(&mut self, expected: u64, error: &StoreError) {
        self.lost += expected.saturating_sub(self.journal.records()).saturating_sub(self.telling).max(1);
        (self.told, self.telling) = (0, 0);
        self.first_loss.get_or_insert_with(|| error.to_string());
    }

    /// How many records could not be written, and why the first could not.
    pub fn losses(&self) -> (u64, Option<String>) {
        (self.lost, self.first_loss.clone())
    }
}

impl AsRawFd for Committer {
    fn as_raw_fd(&self) -> RawFd {
        self.journal.as_raw_fd()
    }
}

fn open_index<'a>(slot: &'a mut Option<Index>, packs_dir: &Path) -> Result<&'a mut Index> {
    if let Some(index) = slot {
        return Ok(index);
    }
    let index = Index::open(packs_dir)?;
    // a checkpoint may consist of chunks that other runs wrote a moment ago
    index.make_durable()?;
    Ok(slot.insert(index))
}

/// One more than the highest number that a pack of this run and rank has. Removes what a writer that was killed left
/// unfinished: whoever has the journal is the only writer of these names.
fn next_pack(packs_dir: &Path, prefix: &str) -> Result<u64> {
    let mut next = 0;
    for entry in fs::read_dir(packs_dir).map_err(StoreError::io("list", packs_dir))? {
        let entry = entry.map_err(StoreError::io("list", packs_dir))?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            continue;
        };
        let hidden = name.strip_prefix('.');
        let Some(rest) = hidden.unwrap_or(name).strip_prefix(prefix) else {
            continue;
        };
        let Some(number) = rest.split('.').next().and_then(|number| number.parse::<u64>().ok()) else {
            continue;
        };
        if hidden.is_some() && rest.ends_with(".tmp") {
            // it costs only space where it cannot be removed
            let _ = fs::remove_file(entry.path());
        } else {
            next = next.max(number.saturating_add(1));
        }
    }
    Ok(next)
}
