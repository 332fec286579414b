//! Connections of the script's to other machines: what came over them is kept and given back as other values from outside are. A
//! replay connects, too, and says what it said; where nobody answers, it fails as the script does.
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::intern;
use pyo3::prelude::*;

use super::descriptors::stat_of;
use super::programs::said_too_much;
use super::special::ReadFrom;
use crate::locks::lock;

/// So long what came in the recorded run is waited for.
const PATIENCE_MS: i32 = 1000;
const AT_ONCE: usize = 1 << 16;

/// In which stream it stands: on one thread that waits, one after another.
const STREAM: &str = "what came over connections";

/// Whether another machine was read from without waiting.
static UNWAITED: AtomicBool = AtomicBool::new(false);

/// What came from programs and servers and is not kept, in words.
#[pyfunction]
pub fn not_kept() -> Vec<&'static str> {
    let too_much = said_too_much().then_some("what programs and servers said beyond 8 MiB");
    let is_unwaited = UNWAITED.load(Ordering::Relaxed);
    let unwaited = is_unwaited.then_some("what came over connections that are read without waiting (asyncio)");
    too_much.into_iter().chain(unwaited).collect()
}

/// By the inode of a socket: bytes that were given back, less those that came here.
static AHEAD: Mutex<Option<HashMap<u64, i64>>> = Mutex::new(None);

/// From where this socket, or what speaks TLS over one, is read; a file where it is read without waiting, or leads to this
/// machine's own processes: then what comes, and when, is theirs.
pub(super) fn read_from(socket: &Bound<'_, PyAny>) -> PyResult<ReadFrom> {
    let py = socket.py();
    let owner = socket.getattr_opt(intern!(py, "owner"))?;
    let socket = owner.as_ref().unwrap_or(socket);
    if !socket.hasattr(intern!(py, "gettimeout"))? {
        return Ok(ReadFrom::File); // TLS over what is not a socket
    }
    let descriptor: i32 = socket.call_method0(intern!(py, "fileno"))?.extract()?;
    let is_far = inode_of(descriptor).is_some();
    if socket.call_method0(intern!(py, "gettimeout"))?.extract::<Option<f64>>()? == Some(0.0) {
        UNWAITED.fetch_or(is_far, Ordering::Relaxed);
        return Ok(ReadFrom::Others);
    }
    Ok(if is_far { ReadFrom::Connection(STREAM.into(), descriptor) } else { ReadFrom::Others })
}

/// The inode of a socket that may lead to another machine.
fn inode_of(descriptor: i32) -> Option<u64> {
    // SAFETY: a plain struct of C, which the kernel fills; it is only read where it did
    let family = unsafe {
        let mut name: libc::sockaddr_storage = std::mem::zeroed();
        let mut length = libc::socklen_t::try_from(size_of_val(&name)).ok()?;
        (libc::getsockname(descriptor, (&raw mut name).cast(), &raw mut length) == 0).then_some(name.ss_family)
    };
    family.filter(|&family| [libc::AF_INET, libc::AF_INET6].contains(&i32::from(family)))?;
    stat_of(descriptor).map(|found| found.st_ino)
}

/// So many bytes were given back: as many of those that come are let go, so that the other side is heard.
pub(super) fn heard(descriptor: i32, bytes: usize) {
    let Some(inode) = inode_of(descriptor) else { return };
    let change = |by: i64| {
        let mut known = lock(&AHEAD);
        let ahead = known.get_or_insert_default().entry(inode).or_default();
        *ahead += by;
        *ahead
    };
    let mut ahead = change(i64::try_from(bytes).unwrap_or(0));
    let mut into = [0u8; AT_ONCE];
    while ahead > 0 {
        let mut asked = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
        // SAFETY: one struct, and a buffer of so many bytes
        let came = unsafe {
            if libc::poll(&raw mut asked, 1, PATIENCE_MS) != 1 {
                return;
            }
            let most = usize::try_from(ahead).unwrap_or(AT_ONCE).min(AT_ONCE);
            libc::recv(descriptor, into.as_mut_ptr().cast(), most, libc::MSG_DONTWAIT)
        };
        if came <= 0 {
            return;
        }
        ahead = change(-(came as i64));
    }
}
