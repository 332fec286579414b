//! Writing a pack.
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::codec::{LEVEL, Way, way};
use super::direct::Direct;
use super::throttle::Throttled;
use super::{Codec, END, Entry, HEADER_LEN, Pack, header, index_hash};
use crate::store::chunk::ChunkHash;
use crate::store::durable::{make_private, sync_dir, temporary_beside};
use crate::store::error::{Result, StoreError};

/// Packs of at least so many bytes are written past the page cache. Smaller ones take no time, and a thread costs them some.
const DIRECT_FROM: u64 = 8 << 20;

/// How the bytes of a pack reach the disk.
#[derive(Debug)]
enum Sink {
    Cached(BufWriter<Throttled>),
    Direct(Direct),
}

impl Sink {
    fn new(file: File, expected: u64) -> Sink {
        if expected >= DIRECT_FROM && Direct::takes(&file) {
            Sink::Direct(Direct::new(file))
        } else {
            Sink::Cached(BufWriter::with_capacity(1 << 18, Throttled::new(file)))
        }
    }

    /// Makes all of it durable.
    fn finish(&mut self) -> io::Result<()> {
        match self {
            Sink::Cached(file) => {
                file.flush()?;
                file.get_ref().sync_all()?;
                file.get_ref().forget();
                Ok(())
            }
            Sink::Direct(file) => file.finish(),
        }
    }
}

/// Counts what passes through.
#[derive(Debug)]
struct Counted {
    sink: Sink,
    written: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = match &mut self.sink {
            Sink::Cached(file) => file.write(bytes)?,
            Sink::Direct(file) => file.write(bytes)?,
        };
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.sink {
            Sink::Cached(file) => file.flush(),
            Sink::Direct(file) => file.flush(),
        }
    }
}

/// A pack being written under a temporary name. Dropped unfinished, it leaves nothing behind.
#[derive(Debug)]
pub struct PackWriter {
    file: Counted,
    temporary: PathBuf,
    path: PathBuf,
    offset: u64,
    entries: Vec<Entry>,
    /// Bytes of a chunk that is not complete.
    begun: u64,
    named: Named,
}

/// A pack that is durable.
#[derive(Debug)]
pub struct Written {
    /// To be read.
    pub pack: Pack,
    /// Its size.
    pub bytes: u64,
    /// Processor time of a thread that wrote, in seconds.
    pub aside_s: f64,
}

/// Which name the bytes have, so that a drop removes the right one.
#[derive(Debug, PartialEq)]
enum Named {
    Temporary,
    Final,
    Done,
}

impl PackWriter {
    /// Starts the pack `name` in the folder `dir`. About so many bytes are `expected`.
    ///
    /// # Errors
    /// When the file cannot be created or a pack of this name exists.
    pub fn create(dir: &Path, name: &str, expected: u64) -> Result<PackWriter> {
        let path = dir.join(name);
        if path.exists() {
            return Err(StoreError::io("create", &path)(io::ErrorKind::AlreadyExists.into()));
        }
        let temporary = temporary_beside(&path);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)
            .map_err(StoreError::io("create", &temporary))?;
        make_private(&file);
        let mut writer = PackWriter {
            file: Counted { sink: Sink::new(file, expected), written: 0 },
            temporary,
            path,
            offset: HEADER_LEN,
            entries: Vec::new(),
            begun: 0,
            named: Named::Temporary,
        };
        writer.file.write_all(&header()).map_err(StoreError::io("write", &writer.path))?;
        Ok(writer)
    }

    /// Adds a chunk under the hash that the caller computed.
    ///
    /// # Errors
    /// When writing failed; the pack is then of no use.
    pub fn add(&mut self, hash: ChunkHash, bytes: &[u8]) -> Result<()> {
        let (codec, stored_len) = self.store(bytes).map_err(StoreError::io("write", &self.path))?;
        let entry = Entry { hash, offset: self.offset, stored_len, raw_len: bytes.len() as u64, codec };
        self.offset += stored_len;
        self.entries.push(entry);
        Ok(())
    }

    /// Adds bytes of a chunk whose hash is known only with its last byte; [`PackWriter::end_chunk`] ends it.
    ///
    /// # Errors
    /// When writing failed; the pack is then of no use.
    pub fn add_to_chunk(&mut self, bytes: &[u8]) -> Result<()> {
        self.begun += bytes.len() as u64;
        self.file.write_all(bytes).map_err(StoreError::io("write", &self.path))
    }

    /// The chunk that was added to is complete.
    pub fn end_chunk(&mut self, hash: ChunkHash) {
        let len = std::mem::take(&mut self.begun);
        self.entries.push(Entry { hash, offset: self.offset, stored_len: len, raw_len: len, codec: Codec::Raw });
        self.offset += len;
    }

    fn store(&mut self, bytes: &[u8]) -> io::Result<(Codec, u64)> {
        match way(bytes) {
            Way::Raw => {
                self.file.write_all(bytes)?;
                return Ok((Codec::Raw, bytes.len() as u64));
            }
            Way::Frame(frame) => {
                self.file.write_all(&frame)?;
                return Ok((Codec::Zstd, frame.len() as u64));
            }
            Way::Zstd => {}
        }
        // streamed, so that a large tensor is not held twice
        let before = self.file.written;
        let mut encoder = zstd::stream::write::Encoder::new(&mut self.file, LEVEL)?;
        encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
        encoder.include_contentsize(true)?;
        encoder.write_all(bytes)?;
        encoder.finish()?;
        Ok((Codec::Zstd, self.file.written - before))
    }

    /// Makes the pack durable and gives it its name.
    ///
    /// # Errors
    /// When any step failed; a failed sync is final, so the pack is removed and must be written
    /// again under another name.
    pub fn finish(mut self) -> Result<Written> {
        let mut index = Vec::with_capacity(self.entries.len() * super::ENTRY_LEN);
        self.entries.iter().for_each(|entry| entry.encode(&mut index));
        let hash = index_hash(&index);
        let written = (|| {
            self.file.write_all(&index)?;
            self.file.write_all(&(index.len() as u64).to_le_bytes())?;
            self.file.write_all(&hash)?;
            self.file.write_all(END)?;
            self.file.sink.finish()?;
            fs::rename(&self.temporary, &self.path)
        })();
        written.map_err(StoreError::io("write", &self.path))?;
        self.named = Named::Final;
        sync_dir(self.path.parent().unwrap_or(Path::new(".")))?;
        self.named = Named::Done;
        let size = self.offset + index.len() as u64 + super::TRAILER_LEN;
        let aside_s = match &self.file.sink {
            Sink::Direct(file) => file.cpu_s,
            Sink::Cached(_) => 0.0,
        };
        Ok(Written { pack: Pack::known(&self.path, std::mem::take(&mut self.entries)), bytes: size, aside_s })
    }
}

impl Drop for PackWriter {
    fn drop(&mut self) {
        let unwanted = match self.named {
            Named::Temporary => &self.temporary,
            Named::Final => &self.path,
            Named::Done => return,
        };
        // nothing names the file, so one that cannot be removed only costs space
        let _ = fs::remove_file(unwanted);
    }
}
