//! The file that `torch.load` reads: a zip archive whose entries are stored as they are, each at a multiple of 64 bytes.
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// Name and bytes of one entry.
pub type Entry<'a> = (&'a str, &'a [u8]);

const ALIGNMENT: u16 = 64;
const BUFFER: usize = 1 << 20;

/// Writes an archive beside `path`, makes it durable, and moves it there.
pub(super) fn write<'a>(path: &Path, entries: impl Iterator<Item = Entry<'a>>) -> Result<(), String> {
    let unfinished = beside(path);
    let written = fill(&unfinished, entries).and_then(|()| move_to(&unfinished, path));
    written.map_err(|error| {
        // it costs only space where it cannot be removed
        let _ = fs::remove_file(&unfinished);
        format!("cannot write {}: {error}", path.display())
    })
}

/// A name in the same folder that no other save uses.
fn beside(path: &Path) -> std::path::PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

fn fill<'a>(path: &Path, entries: impl Iterator<Item = Entry<'a>>) -> Result<(), Box<dyn std::error::Error>> {
    let mut archive = ZipWriter::new(BufWriter::with_capacity(BUFFER, File::create(path)?));
    for (name, bytes) in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .large_file(bytes.len() > u32::MAX as usize)
            .last_modified_time(DateTime::default())
            .with_alignment(ALIGNMENT);
        archive.start_file(name, options)?;
        archive.write_all(bytes)?;
    }
    let file = archive.finish()?.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok(())
}

fn move_to(from: &Path, to: &Path) -> Result<(), Box<dyn std::error::Error>> {
    fs::rename(from, to)?;
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok(())
}
