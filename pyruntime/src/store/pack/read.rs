//! Reading a pack, trusting nothing in it.
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::index::decode_index;
use super::{
    Codec, END, ENTRY_LEN, Entry, HEADER_LEN, MAGIC, SEGMENTED, TRAILER_LEN, header, header_of, index_hash, number,
    segments,
};
use crate::store::chunk::ChunkHash;
use crate::store::error::{Result, StoreError};

/// A pack whose index was read and found intact.
#[derive(Debug)]
pub struct Pack {
    path: PathBuf,
    entries: Vec<Entry>,
    /// Of a pack that others may append to: how long it was.
    growing: Option<u64>,
    damage: Option<String>,
}

impl Pack {
    /// A pack that this process has just written.
    pub(super) fn known(path: &Path, entries: Vec<Entry>) -> Pack {
        Pack { path: path.to_path_buf(), entries, growing: None, damage: None }
    }

    /// Opens a pack and checks its index.
    ///
    /// # Errors
    /// When the file cannot be read, has a newer format, or its header, index or trailer is
    /// damaged.
    pub fn open(path: &Path) -> Result<Pack> {
        let file = open(path)?;
        let len = file.metadata().map_err(StoreError::io("read the size of", path))?.len();
        let damaged = |what: &str, why: &str| StoreError::damaged(what, path, why);
        let mut front = [0u8; HEADER_LEN as usize];
        if len >= HEADER_LEN {
            file.read_exact_at(&mut front, 0).map_err(StoreError::io("read", path))?;
        }
        if front == header_of(SEGMENTED) {
            let (entries, damage) = segments::read(&file, len, path)?;
            return Ok(Pack { path: path.to_path_buf(), entries, growing: Some(len), damage });
        }
        if len < HEADER_LEN + TRAILER_LEN {
            return Err(damaged("the pack", "it is shorter than an empty pack"));
        }
        let mut trailer = [0u8; TRAILER_LEN as usize];
        file.read_exact_at(&mut trailer, len - TRAILER_LEN).map_err(StoreError::io("read", path))?;
        check_header(&front, path)?;
        if &trailer[40..] != END {
            return Err(damaged("the trailer", "it does not end as a pack does"));
        }
        let index_len = number(&trailer[..8]);
        let room = len - HEADER_LEN - TRAILER_LEN;
        if index_len > room || !index_len.is_multiple_of(ENTRY_LEN as u64) {
            return Err(damaged("the trailer", "the length of the index is impossible"));
        }
        let index_start = len - TRAILER_LEN - index_len;
        let mut index = vec![0u8; index_len as usize];
        file.read_exact_at(&mut index, index_start).map_err(StoreError::io("read", path))?;
        if index_hash(&index) != trailer[8..40] {
            return Err(damaged("the index", "it does not match its hash"));
        }
        let entries = decode_index(&index, HEADER_LEN, index_start)
            .ok_or_else(|| damaged("the index", "it names bytes that are not in the pack"))?;
        Ok(Pack { path: path.to_path_buf(), entries, growing: None, damage: None })
    }

    /// Whether it was appended to since it was opened.
    pub fn has_grown(&self) -> bool {
        self.growing.is_some_and(|len| std::fs::metadata(&self.path).is_ok_and(|found| found.len() > len))
    }

    /// What of it cannot be read, although the rest can.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The pack's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its chunks.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Reads a chunk into `into`, which has exactly its raw length, and checks its hash.
    ///
    /// # Errors
    /// When the file cannot be read or its bytes are not the chunk.
    pub fn read(&self, entry: &Entry, into: &mut [u8]) -> Result<()> {
        let damaged = |why: String| StoreError::damaged(format!("chunk {}", entry.hash), &self.path, why);
        if into.len() as u64 != entry.raw_len {
            return Err(damaged(format!("it has {} bytes where {} were expected", entry.raw_len, into.len())));
        }
        self.read_from(&self.open_file()?, entry, into)
    }

    /// Reads a chunk to nowhere.
    ///
    /// # Errors
    /// As `read`; or when there is not so much memory as the pack claims.
    pub fn check(&self, entry: &Entry) -> std::result::Result<(), String> {
        let mut buffer = Vec::new();
        let len = usize::try_from(entry.raw_len).unwrap_or(usize::MAX);
        let reserved = buffer.try_reserve_exact(len);
        reserved.map_err(|error| format!("chunk {} cannot be read: {error}", entry.hash))?;
        buffer.resize(len, 0);
        self.read(entry, &mut buffer).map_err(|error| error.to_string())
    }

    /// The file, to be read from by several.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn open_file(&self) -> Result<File> {
        open(&self.path)
    }

    /// Whether the file is long enough to hold a chunk.
    pub fn reaches(&self, entry: &Entry) -> bool {
        std::fs::metadata(&self.path).is_ok_and(|found| found.len() >= entry.offset.saturating_add(entry.stored_len))
    }

    /// Reads a stretch of a chunk's stored bytes, and checks nothing.
    ///
    /// # Errors
    /// When the file cannot be read or ends before.
    pub fn read_stored(&self, file: &File, entry: &Entry, from: u64, into: &mut [u8]) -> io::Result<()> {
        if from.saturating_add(into.len() as u64) > entry.stored_len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.read_exact_at(into, entry.offset + from)
    }

    fn read_from(&self, file: &File, entry: &Entry, into: &mut [u8]) -> Result<()> {
        let damaged = |why: String| StoreError::damaged(format!("chunk {}", entry.hash), &self.path, why);
        let short = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof => damaged("the file ends before it".to_string()),
            _ => StoreError::io("read", &self.path)(error),
        };
        match entry.codec {
            Codec::Raw => file.read_exact_at(into, entry.offset).map_err(short)?,
            Codec::Zstd => {
                let mut stored = vec![0u8; entry.stored_len as usize];
                file.read_exact_at(&mut stored, entry.offset).map_err(short)?;
                let count = zstd::bulk::decompress_to_buffer(&stored, into)
                    .map_err(|error| damaged(format!("it cannot be decompressed: {error}")))?;
                if count != into.len() {
                    return Err(damaged(format!("it decompresses to {count} bytes instead of {}", into.len())));
                }
            }
        }
        let found = ChunkHash::of(into);
        if found != entry.hash {
            return Err(damaged(format!("its bytes have the hash {found}")));
        }
        Ok(())
    }
}

/// A link in a store could lead anywhere, so links are not followed.
fn open(path: &Path) -> Result<File> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_NOFOLLOW);
    options.open(path).map_err(StoreError::io("open", path))
}

fn check_header(front: &[u8; HEADER_LEN as usize], path: &Path) -> Result<()> {
    if *front == header() {
        return Ok(());
    }
    let version = u32::from_le_bytes([front[8], front[9], front[10], front[11]]);
    if front.starts_with(MAGIC) && version > SEGMENTED {
        let (found, known) = (u64::from(version), u64::from(SEGMENTED));
        return Err(StoreError::NewerFormat { path: path.to_path_buf(), found, known });
    }
    Err(StoreError::damaged("the header", path, "it is not a pack's"))
}
