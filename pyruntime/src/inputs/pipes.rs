//! Pipes of programs that the script started, in a replay: the program says what it says now, which is let go, and the script reads
//! what it read then. How what is said falls into reads is chance, so neither may wait for the other for ever.
use std::collections::HashMap;
use std::io;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::PyBlockingIOError;
use pyo3::ffi::PyObject;
use pyo3::prelude::*;

use super::observed::RAISED;
use super::values::with;
use crate::locks::lock;
use crate::nest::follow::place_now;

/// What is kept of a read that found nothing, of a file that does not wait.
const NOTHING: &str = "~";
/// So long what came in the recorded run is waited for, of a program that says less. One that ends is waited for to its end.
const PATIENCE_MS: i32 = 10_000;
/// Between two looks at what Ctrl-C asked for.
const SLICE_MS: i32 = 200;
const AT_ONCE: usize = 1 << 16;

/// What was given back of a stream, less what came.
#[derive(Clone, Copy, Default)]
struct Ahead {
    bytes: i64,
    lines: i64,
    is_given_up: bool,
}

static AHEAD: Mutex<Option<HashMap<Arc<str>, Ahead>>> = Mutex::new(None);

/// A read of a pipe.
pub(super) struct Read<'a, 'py> {
    pub py: Python<'py>,
    pub stream: &'a Arc<str>,
    pub descriptor: RawFd,
    /// Whether it reads to the end.
    pub is_all: bool,
}

impl<'py> Read<'_, 'py> {
    /// What the read returns: a new reference, or null with an error. `decode`: what was kept as this call returns it, if it can;
    /// `plain`: the read itself.
    pub fn instead(
        &self,
        decode: impl Fn(&str) -> PyResult<Option<Bound<'py, PyAny>>>,
        plain: impl Fn() -> *mut PyObject,
    ) -> PyResult<*mut PyObject> {
        // SAFETY: only asks
        let flags = unsafe { libc::fcntl(self.descriptor, libc::F_GETFL) };
        if flags >= 0 && flags & libc::O_NONBLOCK != 0 {
            return self.without_waiting(decode, plain());
        }
        let Some(kept) = self.next() else {
            with(|inputs| inputs.miss(self.stream));
            return Ok(plain());
        };
        self.over();
        let given = if kept == RAISED { None } else { decode(&kept)? };
        let Some(given) = given else { return Ok(plain()) };
        if kept.is_empty() || self.is_all {
            self.to_the_end()?
        } else {
            self.heard(&kept)?
        }
        Ok(given.into_ptr())
    }

    /// Something came, or the end: the script gets all that it read here, and the end when that comes.
    fn without_waiting(
        &self,
        decode: impl Fn(&str) -> PyResult<Option<Bound<'py, PyAny>>>,
        really: *mut PyObject,
    ) -> PyResult<*mut PyObject> {
        // SAFETY: a new reference, or null, where an error is set
        let Some(came) = (unsafe { Bound::from_owned_ptr_or_opt(self.py, really) }) else {
            return Ok(std::ptr::null_mut());
        };
        let mut all = String::new();
        while let Some(kept) = self.next() {
            match &*kept {
                RAISED | NOTHING => {}
                "" => break,
                _ if !all.is_empty() && all.len() + kept.len() > AT_ONCE => break,
                said => all.push_str(said),
            }
            self.over();
        }
        if !all.is_empty()
            && let Some(given) = decode(&all)?
        {
            return Ok(given.into_ptr());
        }
        if came.is_truthy()? {
            if self.next().is_some() {
                return Err(PyBlockingIOError::new_err(("it says more than in the recorded run",)));
            }
            with(|inputs| inputs.miss(self.stream));
        } else {
            self.over();
        }
        Ok(came.into_ptr())
    }

    /// What was read next at this place.
    fn next(&self) -> Option<String> {
        let kept = with(|inputs| inputs.next(self.py, place_now(), self.stream))?;
        kept.extract(self.py).ok()
    }

    fn over(&self) {
        with(|inputs| inputs.skip(place_now(), self.stream));
    }

    /// As much of what the program says is let go as was given back, or as many lines: it may say other numbers now.
    fn heard(&self, kept: &str) -> PyResult<()> {
        let bytes: Vec<&str> = (0..kept.len() / 2).filter_map(|at| kept.get(2 * at..2 * at + 2)).collect();
        let (said, lines) = (bytes.len() as i64, bytes.iter().filter(|byte| **byte == "0a").count() as i64);
        let is_whole = bytes.last() == Some(&"0a");
        let mut ahead = lock(&AHEAD).get_or_insert_default().get(self.stream).copied().unwrap_or_default();
        (ahead.bytes, ahead.lines) = (ahead.bytes + said, ahead.lines + lines);
        let mut waited = 0;
        while ahead.bytes > 0 && ahead.lines >= i64::from(is_whole) && !ahead.is_given_up {
            match self.let_go(usize::try_from(ahead.bytes).unwrap_or(AT_ONCE))? {
                None => waited += SLICE_MS,
                Some(came) if came.is_empty() => break,
                Some(came) => {
                    ahead.bytes -= came.len() as i64;
                    ahead.lines -= came.iter().filter(|byte| **byte == b'\n').count() as i64;
                    waited = 0;
                }
            }
            ahead.is_given_up = waited >= PATIENCE_MS;
        }
        if is_whole && ahead.lines == 0 {
            ahead.bytes = 0;
        }
        lock(&AHEAD).get_or_insert_default().insert(self.stream.clone(), ahead);
        Ok(())
    }

    /// The program must not wait for a reader.
    fn to_the_end(&self) -> PyResult<()> {
        while self.let_go(AT_ONCE)?.is_none_or(|came| !came.is_empty()) {}
        Ok(())
    }

    /// What comes, at most so many bytes; nothing at the end. None where nothing came for a while. Raises what Ctrl-C raises.
    fn let_go(&self, most: usize) -> PyResult<Option<Vec<u8>>> {
        let descriptor = self.descriptor;
        let came = self.py.detach(|| read(descriptor, most));
        self.py.check_signals()?;
        Ok(came.unwrap_or_else(|_| Some(Vec::new())))
    }
}

fn read(descriptor: RawFd, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut asked = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    let mut into = vec![0u8; most.min(AT_ONCE)];
    // SAFETY: one struct, and a buffer of so many bytes
    let came = unsafe {
        if libc::poll(&raw mut asked, 1, SLICE_MS) != 1 {
            return Ok(None);
        }
        libc::read(descriptor, into.as_mut_ptr().cast(), into.len())
    };
    into.truncate(usize::try_from(came).map_err(|_| io::Error::last_os_error())?);
    Ok(Some(into))
}
