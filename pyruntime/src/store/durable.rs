//! Writing so that a power cut leaves either the old state or the new one.
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::error::{Result, StoreError};

/// Makes the names in a folder durable.
///
/// # Errors
/// When the folder cannot be opened or synced.
pub fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|folder| folder.sync_all()).map_err(StoreError::io("sync the folder", dir))
}

/// Creates a folder with its parents, for this user alone, and makes their names durable.
///
/// # Errors
/// When a folder cannot be created or synced.
pub fn create_dirs(dir: &Path) -> Result<()> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = named_parent(dir) {
        create_dirs(parent)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(dir) {
        Ok(()) => {
            // a umask may have taken more than it should
            let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
            sync_dir(named_parent(dir).unwrap_or(Path::new(".")))
        }
        // another rank was faster
        Err(_) if dir.is_dir() => Ok(()),
        Err(error) => Err(StoreError::io("create the folder", dir)(error)),
    }
}

/// Makes a new file one that only its owner reads and writes, whatever the umask.
pub fn make_private(file: &File) {
    // it was created with no more than that
    let _ = file.set_permissions(fs::Permissions::from_mode(0o600));
}

fn named_parent(dir: &Path) -> Option<&Path> {
    dir.parent().filter(|parent| !parent.as_os_str().is_empty())
}

/// Reads a small file. What is none (a pipe, on which a reader would wait; a device; a folder) and what is large is refused.
///
/// # Errors
/// When it cannot be read, is no regular file, or has more than so many bytes.
pub fn read_small(path: &Path, most: u64) -> io::Result<String> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    if about.len() > most {
        return Err(io::Error::other("it is too large"));
    }
    let mut text = String::new();
    file.take(most).read_to_string(&mut text)?;
    Ok(text)
}

/// Puts a small file in place as a whole: temporary name, sync, rename, sync of the folder.
///
/// # Errors
/// When any step is refused; the temporary file is then removed.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = temporary_beside(path);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| {
            make_private(&file);
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, path));
    if let Err(error) = written {
        // the failure that matters is the one above
        let _ = fs::remove_file(&temporary);
        return Err(StoreError::io("write", path)(error));
    }
    sync_dir(path.parent().unwrap_or(Path::new(".")))
}

/// A hidden name beside `path` that no other process or call uses.
pub fn temporary_beside(path: &Path) -> PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let count = NEXT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{count}.tmp", std::process::id()))
}
