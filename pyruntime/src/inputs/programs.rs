//! Programs that the script starts: what they write to pipes of the script's, and how they end, is kept and given back as other
//! values from outside are. A replay starts them, too, since they may do more than write.
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::ffi::PyObject;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};

use super::callers::{is_asked_by_script, scripts_frame};
use super::definitions::{Call, Definition, StandIn};
use super::descriptors::{is_a, stat_of};
use super::elsewhere;
use super::observed::{gives, in_added_statement, is_on, swallowed};
use super::values::with;
use crate::guard::interrupts::is_at_work;
use crate::locks::lock;
use crate::nest::follow::place_now;
use crate::nest::owner::is_followed;

/// Modules in which the script's call becomes the start of a program.
const HAND_ON: [&str; 4] = ["subprocess", "os", "asyncio", "florc.replay.parallel.elsewhere"];
/// So many bytes of what programs say are kept, as they stand in the journal.
const MOST_BYTES: usize = 8 << 20;
/// The stream in which a digest of the user's own files stands of which a program is made.
const STARTED: &str = "a program";
/// Of one file, so many bytes of its beginning: what was said is what the recorded run heard, whatever has changed behind them.
const MOST_OF_FILE: u64 = 1 << 20;
/// Bits of that digest.
const MASK: i64 = i64::MAX;

static BYTES: AtomicUsize = AtomicUsize::new(0);
static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

#[derive(Default)]
struct Running {
    /// By the inode of a pipe, in which stream what is read of it stands.
    pipes: HashMap<u64, Arc<str>>,
    /// By the number of a process, where it was started, and in which stream its end stands: when it is waited for may be chance.
    ends: HashMap<i64, End>,
    /// How many were started at a place.
    started: HashMap<Arc<str>, usize>,
}

type End = (Arc<str>, Arc<str>);

fn running<T>(work: impl FnOnce(&mut Running) -> T) -> T {
    work(lock(&RUNNING).get_or_insert_default())
}

/// Whether programs and servers said more than is kept.
pub(super) fn said_too_much() -> bool {
    BYTES.load(Ordering::Relaxed) > MOST_BYTES
}

/// Of the files of a program, as they are now, whatever the script is shown of them.
fn digest(files: &[OsString]) -> i64 {
    let mut hasher = blake3::Hasher::new();
    for file in files {
        let read = File::open(file).and_then(|file| std::io::copy(&mut file.take(MOST_OF_FILE), &mut hasher));
        hasher.update(&read.unwrap_or_default().to_le_bytes());
    }
    let found = hasher.finalize();
    i64::from_le_bytes(std::array::from_fn(|at| found.as_bytes()[at])) & MASK
}

/// In which stream what is read of this pipe stands.
pub(super) fn stream_of(inode: u64) -> Option<Arc<str>> {
    lock(&RUNNING).as_ref()?.pipes.get(&inode).cloned()
}

/// Whether so many bytes more may be kept.
pub(super) fn has_room(bytes: usize) -> bool {
    BYTES.fetch_add(bytes, Ordering::Relaxed) + bytes <= MOST_BYTES
}

/// A function that starts a program.
pub(super) struct Starts(pub &'static Definition, pub Arc<str>);

impl Starts {
    /// A program begins: where its end stands, if that is kept.
    fn begins(&self, py: Python<'_>, call: Call) -> PyResult<Option<End>> {
        if in_added_statement() || !is_asked_by_script(py, &HAND_ON)? {
            return Ok(None);
        }
        // SAFETY: the call is going on
        let (args, kwargs) = unsafe { call.arguments(py, self.0.flags()) }?;
        let programs = py.import(intern!(py, "florc.inputs.programs"))?;
        let about = programs.getattr(intern!(py, "about"))?;
        let (files, output, errors): (Vec<OsString>, i32, i32) = about.call1((&*self.1, args, kwargs))?.extract()?;
        let (place, stream, made) = (place_now(), Arc::from(STARTED), digest(&files));
        let count = running(|running| {
            let count = running.started.entry(place.clone()).or_default();
            *count += 1; // of those that were edited, too: the others keep their numbers
            *count
        });
        if !gives() {
            with(|inputs| inputs.take(place.clone(), &stream, Some(made), None));
        } else {
            let was = with(|inputs| inputs.give(py, place.clone(), &stream, true)).0;
            if was != Some(made) {
                was.map(|_| programs.getattr(intern!(py, "changed"))?.call1((files,))).transpose()?;
                return Ok(None);
            }
        }
        Ok(Some(running(|running| {
            let name = format!("program {count} started at {}", if place.is_empty() { "the top" } else { &place });
            for (descriptor, what) in [(errors, "errors"), (output, "output")] {
                match stat_of(descriptor) {
                    Some(pipe) if is_a(&pipe, libc::S_IFIFO) => {
                        running.pipes.insert(pipe.st_ino, format!("the {what} of {name}").into());
                    }
                    Some(file) if is_a(&file, libc::S_IFREG) => elsewhere::took(), // the script may read it
                    _ => {}
                }
            }
            (place, format!("the end of {name}").into())
        })))
    }
}

impl StandIn for Starts {
    fn call(&self, call: Call) -> *mut PyObject {
        // SAFETY: the call came to the stand-in of this definition
        let plain = || unsafe { call.of(self.0) };
        if !is_on() || is_at_work() {
            return plain();
        }
        // SAFETY: Python calls a function of C with the interpreter's lock held
        let py = unsafe { Python::assume_attached() };
        if !is_followed() {
            match swallowed(py, || Ok(scripts_frame(py)?.is_some())) {
                Ok(is_scripts) => is_scripts.unwrap_or_default().then(elsewhere::took),
                Err(error) => return raised(py, error),
            };
            return plain();
        }
        let end = match swallowed(py, || self.begins(py, call)) {
            Ok(end) => end.flatten(),
            Err(error) => return raised(py, error),
        };
        let made = plain();
        // SAFETY: a reference that the caller gets, or null
        let number = unsafe { Bound::from_borrowed_ptr_or_opt(py, made) }.and_then(|made| made.extract::<i64>().ok());
        if let (Some(end), Some(number)) = (end, number) {
            running(|running| running.ends.insert(number, end));
        }
        made
    }
}

/// `os.waitpid`.
pub(super) struct Waits(pub &'static Definition);

impl StandIn for Waits {
    fn call(&self, call: Call) -> *mut PyObject {
        // SAFETY: the call came to the stand-in of this definition
        let made = unsafe { call.of(self.0) };
        if made.is_null() || !is_on() || !is_followed() || is_at_work() {
            return made;
        }
        // SAFETY: Python calls a function of C with the interpreter's lock held; a new reference that is ours
        let (py, made) = unsafe {
            let py = Python::assume_attached();
            (py, Bound::from_owned_ptr(py, made))
        };
        match swallowed(py, || ended(&made)) {
            Ok(given) => given.flatten().unwrap_or(made).into_ptr(),
            Err(error) => raised(py, error),
        }
    }
}

/// A process was waited for: what is given back in the place of how it ended.
fn ended<'py>(made: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = made.py();
    let (process, status): (i64, i64) = made.extract()?;
    let Some((place, stream)) = lock(&RUNNING).as_mut().and_then(|running| running.ends.remove(&process)) else {
        return Ok(None);
    };
    if !gives() {
        with(|inputs| inputs.take(place, &stream, Some(status), None));
        return Ok(None);
    }
    let status = with(|inputs| inputs.find(place, &stream));
    status.map(|status| Ok(PyTuple::new(py, [PyInt::new(py, process), PyInt::new(py, status)])?.into_any())).transpose()
}

fn raised(py: Python<'_>, error: PyErr) -> *mut PyObject {
    error.restore(py);
    std::ptr::null_mut()
}
