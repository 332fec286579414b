//! A pack that small checkpoints of one run share (see `segments`), as it is written.
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::codec::{Way, compressed, way};
use super::segments::{FRONT_LEN, hash_of};
use super::{Codec, ENTRY_LEN, Entry, HEADER_LEN, Pack, SEGMENTED, header_of};
use crate::store::chunk::ChunkHash;
use crate::store::durable::{make_private, sync_dir, temporary_beside};
use crate::store::error::{Result, StoreError};

/// A pack takes no more segments once it is so long, in bytes.
const FULL: u64 = 32 << 20;

/// A shared pack that is being written, by one process.
#[derive(Debug)]
pub struct SharedPack {
    file: File,
    path: PathBuf,
    len: u64,
    is_over: bool,
}

impl SharedPack {
    /// Starts the pack `name` in the folder `dir` with its first segment, and makes it durable.
    ///
    /// # Errors
    /// When any step failed; then there is no such pack.
    pub fn create(dir: &Path, name: &str, chunks: &[(ChunkHash, &[u8])]) -> Result<(SharedPack, Pack, u64)> {
        let path = dir.join(name);
        let temporary = temporary_beside(&path);
        let written = (|| {
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
            make_private(&file);
            let (bytes, entries) = segment(HEADER_LEN, chunks)?;
            let mut whole = header_of(SEGMENTED).to_vec();
            whole.extend_from_slice(&bytes);
            file.write_all_at(&whole, 0)?;
            file.sync_all()?;
            fs::rename(&temporary, &path)?;
            Ok((file, entries, whole.len() as u64))
        })();
        let (file, entries, len) = written.map_err(|error| {
            // nothing names the file, so one that cannot be removed only costs space
            let _ = fs::remove_file(&temporary);
            StoreError::io("write", &path)(error)
        })?;
        if let Err(error) = sync_dir(dir) {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        let pack = Pack::known(&path, entries);
        Ok((SharedPack { file, path, len, is_over: false }, pack, len))
    }

    /// Adds a segment and makes it durable. Returns its chunks, and its length in bytes.
    ///
    /// # Errors
    /// When writing or syncing failed. After a failed sync nothing is known about what is on the disk: the pack takes no
    /// further segment.
    pub fn append(&mut self, chunks: &[(ChunkHash, &[u8])]) -> Result<(Pack, u64)> {
        let written = (|| {
            let (bytes, entries) = segment(self.len, chunks)?;
            self.file.write_all_at(&bytes, self.len)?;
            self.file.sync_data()?;
            Ok((bytes.len() as u64, entries))
        })();
        // whatever failed, the next checkpoint gets another file
        let (len, entries) = written.map_err(|error| {
            self.is_over = true;
            StoreError::io("write", &self.path)(error)
        })?;
        self.len += len;
        Ok((Pack::known(&self.path, entries), len))
    }

    /// Whether the next checkpoint needs another pack.
    pub fn is_over(&self) -> bool {
        self.is_over || self.len >= FULL
    }
}

/// The bytes of a segment that begins at `start`, and what it holds.
fn segment(start: u64, chunks: &[(ChunkHash, &[u8])]) -> std::io::Result<(Vec<u8>, Vec<Entry>)> {
    let index_len = chunks.len() * ENTRY_LEN;
    let (mut data, mut entries) = (Vec::new(), Vec::with_capacity(chunks.len()));
    for (hash, bytes) in chunks {
        let offset = start + FRONT_LEN + (index_len + data.len()) as u64;
        let before = data.len();
        let codec = match way(bytes) {
            Way::Raw => {
                data.extend_from_slice(bytes);
                Codec::Raw
            }
            Way::Frame(frame) => {
                data.extend_from_slice(&frame);
                Codec::Zstd
            }
            Way::Zstd => {
                data.extend_from_slice(&compressed(bytes)?);
                Codec::Zstd
            }
        };
        let stored_len = (data.len() - before) as u64;
        entries.push(Entry { hash: *hash, offset, stored_len, raw_len: bytes.len() as u64, codec });
    }
    let mut index = Vec::with_capacity(index_len);
    entries.iter().for_each(|entry| entry.encode(&mut index));
    let mut bytes = Vec::with_capacity(FRONT_LEN as usize + index.len() + data.len());
    bytes.extend_from_slice(&(index.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&(data.len() as u64).to_le_bytes());
    bytes.extend_from_slice(&hash_of(start, &bytes, &index));
    bytes.extend_from_slice(&index);
    bytes.extend_from_slice(&data);
    Ok((bytes, entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(number: u8) -> Vec<Vec<u8>> {
        vec![vec![number; 3000], format!("chunk {number}").into_bytes(), Vec::new()]
    }

    fn sample(dir: &Path, segments: u8) -> PathBuf {
        let named: Vec<Vec<Vec<u8>>> = (0..segments).map(chunks).collect();
        let hashed = |chunks: &'_ [Vec<u8>]| -> Vec<(ChunkHash, Vec<u8>)> {
            chunks.iter().map(|bytes| (ChunkHash::of(bytes), bytes.clone())).collect()
        };
        let mut shared: Option<SharedPack> = None;
        for chunks in &named {
            let owned = hashed(chunks);
            let borrowed: Vec<(ChunkHash, &[u8])> = owned.iter().map(|(hash, bytes)| (*hash, &bytes[..])).collect();
            match &mut shared {
                None => shared = Some(SharedPack::create(dir, "run-0-0.pack", &borrowed).unwrap().0),
                Some(pack) => assert_eq!(pack.append(&borrowed).unwrap().0.entries().len(), 3),
            }
        }
        dir.join("run-0-0.pack")
    }

    fn read_all(path: &Path) -> (Vec<Vec<u8>>, Option<String>, usize) {
        let pack = Pack::open(path).unwrap();
        let mut failed = 0;
        let mut all = Vec::new();
        for entry in pack.entries() {
            let mut bytes = vec![0; entry.raw_len as usize];
            match pack.read(entry, &mut bytes) {
                Ok(()) => all.push(bytes),
                Err(_) => failed += 1,
            }
        }
        (all, pack.damage().map(str::to_string), failed)
    }

    #[test]
    fn segments_come_back_and_one_that_is_unfinished_is_read_past() {
        let dir = tempfile::tempdir().unwrap();
        let path = sample(dir.path(), 5);
        let expected: Vec<Vec<u8>> = (0..5).flat_map(chunks).collect();
        assert_eq!(read_all(&path), (expected.clone(), None, 0));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
        let whole = fs::read(&path).unwrap();
        for len in HEADER_LEN as usize..whole.len() {
            fs::write(&path, &whole[..len]).unwrap();
            let (all, damage, failed) = read_all(&path);
            assert!(damage.is_none() && failed == 0 && all.len() % 3 == 0, "{len}");
            assert_eq!(all[..], expected[..all.len()]);
        }
    }

    #[test]
    fn every_changed_byte_is_noticed_or_harmless() {
        let dir = tempfile::tempdir().unwrap();
        let path = sample(dir.path(), 5);
        let expected: Vec<Vec<u8>> = (0..5).flat_map(chunks).collect();
        let mut noticed = 0;
        let whole = fs::read(&path).unwrap();
        for at in HEADER_LEN as usize..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            let (all, _, _) = read_all(&path);
            // a bit of a compressed frame may mean nothing
            noticed += usize::from(all.len() < expected.len());
            assert!(all.iter().all(|chunk| expected.contains(chunk)), "a change at {at} changed a chunk");
        }
        assert!(noticed * 100 > (whole.len() - HEADER_LEN as usize) * 95, "{noticed}");
    }
}
