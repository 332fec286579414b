//! What can go wrong in a store, in words that name the file.
use std::io;
use std::path::{Path, PathBuf};

/// The result of an operation on a store.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Bytes that are not what was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} in {} is damaged: {why}", path.display())]
pub struct Damaged {
    /// The damaged thing: a chunk with its hash, an index, a record.
    pub what: String,
    /// The file that holds it.
    pub path: PathBuf,
    /// What does not match.
    pub why: String,
}

/// Any failure of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file of a later version of florc.
    #[error("{} has format {found}, and this florc reads up to {known}: upgrade florc to use it", path.display())]
    NewerFormat {
        /// The file that carries the version.
        path: PathBuf,
        /// The version it carries.
        found: u64,
        /// The newest version that this code reads.
        known: u64,
    },
    /// A folder that is no store.
    #[error("{} is not a florc store: {why}", path.display())]
    NotAStore {
        /// The folder.
        path: PathBuf,
        /// What is missing or unreadable.
        why: String,
    },
    /// A name that could leave the store or that the formats cannot hold.
    #[error("{name:?} cannot be used as {what}: {why}")]
    BadName {
        /// What the name was meant for.
        what: &'static str,
        /// The name as given.
        name: String,
        /// The rule that it breaks.
        why: &'static str,
    },
    /// A journal that another process is writing.
    #[error("{} is being written by another process", path.display())]
    Busy {
        /// The journal.
        path: PathBuf,
    },
    /// A file that an earlier failure made unusable.
    #[error("{} is no longer written after an earlier failure: {why}", path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// The earlier failure.
        why: String,
    },
    /// Stored bytes that are not what was written.
    #[error(transparent)]
    Damaged(#[from] Damaged),
}

impl StoreError {
    /// For `map_err`: adds what was tried, and on which file, to an error of the operating system.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        move |source| StoreError::Io { action, path: path.to_path_buf(), source }
    }

    /// A damage report as an error.
    pub fn damaged(what: impl Into<String>, path: &Path, why: impl Into<String>) -> StoreError {
        Damaged { what: what.into(), path: path.to_path_buf(), why: why.into() }.into()
    }

    /// The number of the operating system's error, when it was one (`ENOSPC`, `EDQUOT`, …).
    pub fn errno(&self) -> Option<i32> {
        match self {
            StoreError::Io { source, .. } => source.raw_os_error(),
            _ => None,
        }
    }
}
