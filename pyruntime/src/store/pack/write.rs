//! Writing a pack.
use std::fs::{self, OpenOptions};
use std::io::{self, BufWriter, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::codec::{LEVEL, Way, way};
use super::throttle::Throttled;
use super::{Codec, END, Entry, HEADER_LEN, Pack, header, index_hash};
use crate::store::chunk::ChunkHash;
use crate::store::durable::{make_private, sync_dir, temporary_beside};
use crate::store::error::{Result, StoreError};

/// A pack being written under a temporary name. Dropped unfinished, it leaves nothing behind.
#[derive(Debug)]
pub struct PackWriter {
    file: BufWriter<Throttled>,
    temporary: PathBuf,
    path: PathBuf,
    offset: u64,
    entries: Vec<Entry>,
    named: Named,
}

/// Which name the bytes have, so that a drop removes the right one.
#[derive(Debug, PartialEq)]
enum Named {
    Temporary,
    Final,
    Done,
}

impl PackWriter {
    /// Starts the pack `name` in the folder `dir`.
    ///
    /// # Errors
    /// When the file cannot be created or a pack of this name exists.
    pub fn create(dir: &Path, name: &str) -> Result<PackWriter> {
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
            file: BufWriter::with_capacity(1 << 18, Throttled::new(file)),
            temporary,
            path,
            offset: HEADER_LEN,
            entries: Vec::new(),
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
        let mut encoder = zstd::stream::write::Encoder::new(&mut self.file, LEVEL)?;
        encoder.set_pledged_src_size(Some(bytes.len() as u64))?;
        encoder.include_contentsize(true)?;
        encoder.write_all(bytes)?;
        encoder.finish()?;
        let end = self.file.stream_position()?;
        Ok((Codec::Zstd, end - self.offset))
    }

    /// Makes the pack durable and gives it its name. Returns it with its size in bytes.
    ///
    /// # Errors
    /// When any step failed; a failed sync is final, so the pack is removed and must be written
    /// again under another name.
    pub fn finish(mut self) -> Result<(Pack, u64)> {
        let mut index = Vec::with_capacity(self.entries.len() * super::ENTRY_LEN);
        self.entries.iter().for_each(|entry| entry.encode(&mut index));
        let hash = index_hash(&index);
        let written = (|| {
            self.file.write_all(&index)?;
            self.file.write_all(&(index.len() as u64).to_le_bytes())?;
            self.file.write_all(&hash)?;
            self.file.write_all(END)?;
            self.file.flush()?;
            self.file.get_ref().sync_all()?;
            self.file.get_ref().forget();
            fs::rename(&self.temporary, &self.path)
        })();
        written.map_err(StoreError::io("write", &self.path))?;
        self.named = Named::Final;
        sync_dir(self.path.parent().unwrap_or(Path::new(".")))?;
        self.named = Named::Done;
        let size = self.offset + index.len() as u64 + super::TRAILER_LEN;
        Ok((Pack::known(&self.path, std::mem::take(&mut self.entries)), size))
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
