//! Reading a journal up to its last whole record.
use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{
    CHAIN, CHECK, Chain, HEADER_LEN, Key, LENGTHS, MAGIC, SEALED, Seal, VERSION, check_of, first_chain, first_seal,
    frame, header, next_chain, next_seal, seal_len,
};
use crate::store::error::{Result, StoreError};

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What the record is: `checkpoint`, `log`, …
    pub kind: String,
    /// Its text, JSON by convention.
    pub payload: String,
}

/// Why reading stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// At the end of the file, after a whole record.
    Whole,
    /// At an unfinished last record, as a crash leaves it.
    Torn {
        /// Where the unfinished record begins, in bytes.
        offset: u64,
        /// What is missing.
        why: String,
    },
    /// At bytes that were changed after they were written.
    Damaged {
        /// Where the damaged record begins, in bytes.
        offset: u64,
        /// What does not match.
        why: String,
    },
}

/// A journal opened for reading, as long as it was when it was opened.
#[derive(Debug)]
pub struct Journal<R> {
    input: R,
    path: PathBuf,
    len: u64,
    offset: u64,
    pub(super) version: u32,
    pub(super) chain: Chain,
    pub(super) seal: Seal,
    key: Option<Key>,
    is_sealed: bool,
    end: Option<End>,
}

impl Journal<BufReader<File>> {
    /// Opens a journal. `key`: what its records should be sealed with.
    ///
    /// # Errors
    /// When the file cannot be read, is none, or has a newer format.
    pub fn open(path: &Path, key: Option<&Key>) -> Result<Self> {
        // a pipe in the place of the file would be waited for
        let mut options = File::options();
        options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW);
        let file = options.open(path).map_err(StoreError::io("open", path))?;
        let found = file.metadata().map_err(StoreError::io("read the size of", path))?;
        if !found.is_file() {
            return Err(StoreError::damaged("the journal", path, "it is no file"));
        }
        Journal::new(BufReader::with_capacity(1 << 16, file), found.len(), path, key)
    }
}

impl<R: Read> Journal<R> {
    /// Reads a journal of `len` bytes from `input`; `path` is for messages.
    ///
    /// # Errors
    /// When the header cannot be read, or is of a newer format.
    pub fn new(input: R, len: u64, path: &Path, key: Option<&Key>) -> Result<Self> {
        let mut journal = Journal {
            input,
            path: path.to_path_buf(),
            len,
            offset: 0,
            version: VERSION,
            chain: first_chain(VERSION),
            seal: first_seal(key, VERSION),
            key: key.copied(),
            is_sealed: key.is_some(),
            end: None,
        };
        journal.read_header()?;
        Ok(journal)
    }

    fn read_header(&mut self) -> Result<()> {
        let mut found = [0u8; HEADER_LEN as usize];
        if self.len < HEADER_LEN || !self.fill(&mut found)? {
            self.stop_torn("the header is unfinished");
            return Ok(());
        }
        let version = u32::from_le_bytes([found[8], found[9], found[10], found[11]]);
        if (1..=VERSION).contains(&version) && found == header(version) {
            self.offset = HEADER_LEN;
            self.version = version;
            self.chain = first_chain(version);
            self.is_sealed &= version >= SEALED;
        } else if found.iter().all(|byte| *byte == 0) && self.rest_is_zero()? {
            self.stop_torn("the header is unwritten");
        } else if found.starts_with(MAGIC) && found[12..] == [0; 4] && version > VERSION {
            let known = u64::from(VERSION);
            return Err(StoreError::NewerFormat { path: self.path.clone(), found: version.into(), known });
        } else {
            self.stop_damaged("the header is not a journal's");
        }
        Ok(())
    }

    /// The next whole record, or `None` at the end, which [`Journal::end`] then explains.
    ///
    /// # Errors
    /// When the operating system cannot read the file.
    pub fn next_record(&mut self) -> Result<Option<Record>> {
        let left = self.len - self.offset;
        if self.end.is_some() {
            return Ok(None);
        }
        if left == 0 {
            self.end = Some(End::Whole);
            return Ok(None);
        }
        let mut front = [0u8; LENGTHS + CHECK];
        if left < frame(self.version) || !self.fill(&mut front)? {
            self.stop_torn("the last record is unfinished");
            return Ok(None);
        }
        let (mut lengths, mut check) = ([0u8; LENGTHS], [0u8; CHECK]);
        lengths.copy_from_slice(&front[..LENGTHS]);
        check.copy_from_slice(&front[LENGTHS..]);
        if check != check_of(&self.chain, &lengths) {
            let unwritten = front.iter().all(|byte| *byte == 0) && self.rest_is_zero()?;
            self.stop(unwritten, "the lengths of the record do not match their check");
            return Ok(None);
        }
        self.read_body(&lengths, left - frame(self.version))
    }

    fn read_body(&mut self, lengths: &[u8; LENGTHS], left: u64) -> Result<Option<Record>> {
        let kind_len = usize::from(lengths[0]);
        let payload_len = u32::from_le_bytes([lengths[1], lengths[2], lengths[3], lengths[4]]) as usize;
        let body_len = kind_len + payload_len;
        // checked against the file before anything is allocated
        if body_len as u64 > left {
            self.stop_torn("the last record is unfinished");
            return Ok(None);
        }
        let mut body = vec![0u8; body_len + seal_len(self.version)];
        let mut hash = [0u8; CHAIN];
        if !self.fill(&mut body)? || !self.fill(&mut hash)? {
            self.stop_torn("the last record is unfinished");
            return Ok(None);
        }
        let chain = next_chain(&self.chain, lengths, &body);
        if chain != hash {
            let last = body_len as u64 == left || self.rest_is_zero()?;
            self.stop(last, "the record does not match its hash");
            return Ok(None);
        }
        let seal = body.split_off(body_len);
        let expected = next_seal(self.key.as_ref(), &self.seal, lengths, &body);
        let payload = String::from_utf8(body.split_off(kind_len));
        let (Ok(kind), Ok(payload)) = (String::from_utf8(body), payload) else {
            self.stop_damaged("the record is not text");
            return Ok(None);
        };
        self.chain = chain;
        self.is_sealed &= seal == expected;
        if let Ok(seal) = Seal::try_from(seal) {
            self.seal = seal;
        }
        self.offset += frame(self.version) + body_len as u64;
        Ok(Some(Record { kind, payload }))
    }

    /// The version of the file's format.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Whether all records so far were sealed with the key. False without a key, and for version 1.
    pub fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    /// Why reading stopped; `None` while there may be more records.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// Where the last whole record ends, in bytes.
    pub fn whole_len(&self) -> u64 {
        self.offset
    }

    /// False at the end of the file, which may have been cut since it was opened.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<bool> {
        match self.input.read_exact(buffer) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(StoreError::io("read", &self.path)(error)),
        }
    }

    /// Some file systems leave zeros where a crash lost data that had not been written.
    fn rest_is_zero(&mut self) -> Result<bool> {
        let mut buffer = [0u8; 4096];
        loop {
            let count = self.input.read(&mut buffer).map_err(StoreError::io("read", &self.path))?;
            if count == 0 {
                return Ok(true);
            }
            if buffer[..count].iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
        }
    }

    fn stop(&mut self, torn: bool, why: &str) {
        if torn { self.stop_torn(why) } else { self.stop_damaged(why) }
    }

    fn stop_torn(&mut self, why: &str) {
        self.end = Some(End::Torn { offset: self.offset, why: why.to_string() });
    }

    fn stop_damaged(&mut self, why: &str) {
        self.end = Some(End::Damaged { offset: self.offset, why: why.to_string() });
    }
}
