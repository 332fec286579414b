//! Files that are none: what is read from a device, from `/proc` or from a program is another thing each time.
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyInt;

use super::descriptors::{is_a, stat_of};
use super::programs::stream_of;

/// Of `/proc`, `/sys`, and the control groups.
const FILE_SYSTEMS: [i64; 4] = [0x9fa0, 0x6265_6572, 0x0027_e0eb, 0x6367_7270];
/// The kernel's memory devices, and of them `/dev/random` and `/dev/urandom`.
const MEMORY: u32 = 1;
const RANDOM: [u32; 2] = [8, 9];

/// From where a descriptor, or a file that has one, is read.
pub enum ReadFrom {
    File,
    /// A pipe, a socket or a terminal that leads to another process, of which nothing is kept.
    Others,
    /// A device, or what the kernel says.
    Kernel,
    /// A program that the script started: in which stream what it says stands, and the descriptor of the pipe.
    Program(Arc<str>, i32),
    /// Another machine: in which stream what it says stands, and the descriptor of the socket.
    Connection(Arc<str>, i32),
}

pub fn read_from(file: &Bound<'_, PyAny>) -> ReadFrom {
    let number = if file.is_exact_instance_of::<PyInt>() { Ok(file.clone()) } else { file.call_method0("fileno") };
    number.and_then(|number| number.extract::<i32>()).map_or(ReadFrom::File, from_descriptor)
}

fn from_descriptor(number: i32) -> ReadFrom {
    let found = stat_of(number);
    let pipe = found.as_ref().filter(|found| is_a(found, libc::S_IFIFO));
    if let Some(stream) = pipe.and_then(|pipe| stream_of(pipe.st_ino)) {
        return ReadFrom::Program(stream, number);
    }
    match found {
        Some(found) if is_special(number, &found) => ReadFrom::Kernel,
        Some(found) if number != 0 && is_of_others(&found) => ReadFrom::Others, // standard input is seen elsewhere
        _ => ReadFrom::File,
    }
}

fn is_of_others(found: &libc::stat) -> bool {
    let is_terminal = is_a(found, libc::S_IFCHR) && libc::major(found.st_rdev) != MEMORY;
    is_terminal || is_a(found, libc::S_IFIFO) || is_a(found, libc::S_IFSOCK)
}

fn is_special(number: i32, found: &libc::stat) -> bool {
    if is_a(found, libc::S_IFCHR) {
        return libc::major(found.st_rdev) == MEMORY && RANDOM.contains(&libc::minor(found.st_rdev));
    }
    // such files have no size, or that of a page
    if !is_a(found, libc::S_IFREG) || found.st_size != 0 && found.st_size != 4096 {
        return false;
    }
    // SAFETY: a plain struct of C, which the kernel fills; it is only read where it did
    unsafe {
        let mut system: libc::statfs = std::mem::zeroed();
        libc::fstatfs(number, &raw mut system) == 0 && FILE_SYSTEMS.contains(&system.f_type)
    }
}
