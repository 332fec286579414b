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
    match stat_of(number) {
        Some(found) if is_a(&found, libc::S_IFIFO) => {
            stream_of(found.st_ino).map_or(ReadFrom::File, |stream| ReadFrom::Program(stream, number))
        }
        Some(found) if is_special(number, &found) => ReadFrom::Kernel,
        _ => ReadFrom::File,
    }
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
