//! Appending to a journal.
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{
    Chain, End, HEADER_LEN, Journal, Key, LENGTHS, Record, Seal, VERSION, check_of, first_chain, first_seal, frame,
    header, next_chain, next_seal, seal_len,
};
use crate::store::durable::{make_private, sync_dir};
use crate::store::error::{Result, StoreError};

/// Records are gathered up to this many bytes before they are written.
const GATHER: usize = 1 << 16;

/// A journal opened for appending; no other process can open it so at the same time.
#[derive(Debug)]
pub struct JournalWriter {
    file: File,
    path: PathBuf,
    key: Option<Key>,
    version: u32,
    /// What the file holds for certain.
    written: Position,
    /// `written` and what is gathered.
    gathered: Position,
    buffer: Vec<u8>,
    unsynced: bool,
    broken: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    len: u64,
    chain: Chain,
    seal: Seal,
    records: u64,
}

impl JournalWriter {
    /// Opens or creates a journal, cuts an unfinished last record off, and shows `visit` each
    /// record that is there.
    ///
    /// # Errors
    /// When the file cannot be opened, is open elsewhere, is damaged before its end, or has a newer
    /// format.
    pub fn open(path: &Path, key: Option<&Key>, mut visit: impl FnMut(&Record)) -> Result<JournalWriter> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
            .map_err(StoreError::io("open", path))?;
        // file systems without locks are used without
        if flock(&file, libc::LOCK_EX | libc::LOCK_NB).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            return Err(StoreError::Busy { path: path.to_path_buf() });
        }
        let mut journal = Journal::open(path, key)?;
        let mut records = 0;
        while let Some(record) = journal.next_record()? {
            visit(&record);
            records += 1;
        }
        if let Some(End::Damaged { offset, why }) = journal.end() {
            return Err(StoreError::damaged(format!("the record at byte {offset}"), path, why.clone()));
        }
        let position = Position { len: journal.whole_len(), chain: journal.chain, seal: journal.seal, records };
        let mut writer = JournalWriter {
            file,
            path: path.to_path_buf(),
            key: key.copied(),
            version: journal.version(),
            written: position,
            gathered: position,
            buffer: Vec::new(),
            unsynced: false,
            broken: None,
        };
        writer.start()?;
        Ok(writer)
    }

    fn start(&mut self) -> Result<()> {
        self.file.set_len(self.written.len).map_err(StoreError::io("cut the torn tail of", &self.path))?;
        if self.written.len < HEADER_LEN {
            make_private(&self.file);
            self.file.write_all_at(&header(VERSION), 0).map_err(StoreError::io("write", &self.path))?;
            let seal = first_seal(self.key.as_ref(), VERSION);
            self.written = Position { len: HEADER_LEN, chain: first_chain(VERSION), seal, records: 0 };
            self.gathered = self.written;
        }
        self.file.sync_all().map_err(StoreError::io("sync", &self.path))?;
        sync_dir(self.path.parent().unwrap_or(Path::new(".")))
    }

    /// Adds a record; it reaches the file at the next [`JournalWriter::flush`] at the latest.
    ///
    /// # Errors
    /// When the kind is empty or longer than 255 bytes, the payload longer than 4 GiB, or writing
    /// failed: then every record since the last flush is lost, and the file still ends with a whole
    /// record.
    pub fn append(&mut self, kind: &str, payload: &str) -> Result<()> {
        self.refuse_if_broken()?;
        let (Ok(kind_len @ 1..), Ok(payload_len)) = (u8::try_from(kind.len()), u32::try_from(payload.len())) else {
            let why = "kinds have 1 to 255 bytes, payloads less than 4 GiB";
            return Err(StoreError::BadName { what: "the kind of a record", name: kind.to_string(), why });
        };
        let mut lengths = [0u8; LENGTHS];
        lengths[0] = kind_len;
        lengths[1..].copy_from_slice(&payload_len.to_le_bytes());
        self.buffer.extend_from_slice(&lengths);
        self.buffer.extend_from_slice(&check_of(&self.gathered.chain, &lengths));
        let body = self.buffer.len();
        self.buffer.extend_from_slice(kind.as_bytes());
        self.buffer.extend_from_slice(payload.as_bytes());
        let seal = next_seal(self.key.as_ref(), &self.gathered.seal, &lengths, &self.buffer[body..]);
        self.buffer.extend_from_slice(&seal[..seal_len(self.version)]);
        let chain = next_chain(&self.gathered.chain, &lengths, &self.buffer[body..]);
        self.buffer.extend_from_slice(&chain);
        self.gathered = Position {
            len: self.gathered.len + frame(self.version) + u64::from(kind_len) + u64::from(payload_len),
            chain,
            seal,
            records: self.gathered.records + 1,
        };
        if self.buffer.len() >= GATHER { self.flush() } else { Ok(()) }
    }

    /// Writes what is gathered.
    ///
    /// # Errors
    /// When writing failed; what was gathered is lost, and the file still ends with a whole record.
    pub fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.refuse_if_broken()?;
        let outcome = self.file.write_all_at(&self.buffer, self.written.len);
        self.buffer.clear();
        self.unsynced = true;
        match outcome {
            Ok(()) => {
                self.written = self.gathered;
                Ok(())
            }
            Err(error) => {
                self.gathered = self.written;
                if let Err(cut) = self.file.set_len(self.written.len) {
                    self.broken = Some(format!("a half written record could not be cut off: {cut}"));
                }
                Err(StoreError::io("write", &self.path)(error))
            }
        }
    }

    /// Makes every record durable.
    ///
    /// # Errors
    /// When writing or syncing failed. After a failed sync nothing is known about what is on the
    /// disk, so it is final: the journal takes no further record.
    pub fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.refuse_if_broken()?;
        if self.unsynced {
            if let Err(error) = self.file.sync_data() {
                self.broken = Some(format!("syncing failed: {error}"));
                return Err(StoreError::io("sync", &self.path)(error));
            }
            self.unsynced = false;
        }
        Ok(())
    }

    /// Lets others open the journal, even while processes forked from this one still hold the file.
    pub fn release(&self) {
        // a file system without locks has nothing to release
        let _ = flock(&self.file, libc::LOCK_UN);
    }

    /// The journal's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many records the file holds and has gathered.
    pub fn records(&self) -> u64 {
        self.gathered.records
    }

    fn refuse_if_broken(&self) -> Result<()> {
        match &self.broken {
            Some(why) => Err(StoreError::Broken { path: self.path.clone(), why: why.clone() }),
            None => Ok(()),
        }
    }
}

impl AsRawFd for JournalWriter {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

/// Whether some process writes the journal now. False where the file system has no locks.
pub fn is_written(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| {
        flock(&file, libc::LOCK_SH | libc::LOCK_NB).is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
    })
}

/// `flock(2)`.
///
/// # Errors
/// When the operating system refuses: `WouldBlock` where another process holds the lock and `LOCK_NB` was given.
pub fn flock(file: &File, operation: i32) -> io::Result<()> {
    // SAFETY: the descriptor is open for as long as `file` is borrowed
    match unsafe { libc::flock(file.as_raw_fd(), operation) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
