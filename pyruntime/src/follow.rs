//! What emitted loops call once per iteration: native, so that it costs little and adds no frame to a traceback.

use crate::boundary;
use crate::context::{LoopFacts, Nest};
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Whether a session follows the loops of this process.
static ACTIVE: AtomicBool = AtomicBool::new(false);
/// The thread whose loops are followed: there is one loop nest.
static OWNER: Mutex<Option<ThreadId>> = Mutex::new(None);
static NEST: Mutex<Option<Nest>> = Mutex::new(None);
static LISTENER: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
/// Told the whole numbers that outer loops yield, if anybody wants to know.
static VALUE_LISTENER: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
/// Asked where a loop begins: `jump(place, iterable, iterator)` is None or `(index, iterator)`, where to go on instead.
static JUMP: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

/// Loops nested deeper than this are followed without telling the session of each iteration.
const TOLD_DEPTH: usize = 3;

/// Whether this call is to be followed. Checked before any lock is taken.
pub fn is_followed() -> bool {
    ACTIVE.load(Ordering::Acquire)
        && *OWNER.lock().unwrap_or_else(PoisonError::into_inner) == Some(thread::current().id())
}

fn nest() -> MutexGuard<'static, Option<Nest>> {
    NEST.lock().unwrap_or_else(PoisonError::into_inner)
}

fn with_nest<T: Default>(work: impl FnOnce(&mut Nest) -> T) -> T {
    nest().as_mut().map(work).unwrap_or_default()
}

/// Starts following loops. `listener(path)` is called as each iteration of an outer loop begins; it may raise. `values(path,
/// number)` is called when the iteration is over a whole number (of a tuple, the first), and with None when the loop
/// turns out to have no further iteration. `jump(place, iterable, iterator)` is asked where a loop begins whether to begin
/// with a later iteration: its index and an iterator that is there, or None. Of a `while` loop there are no iterables.
/// `boundary(loop, objects)` is told of iterations that begin, see `boundary`.
#[pyfunction]
#[pyo3(signature = (listener, values=None, jump=None, boundary=None))]
pub fn start_following(
    listener: Py<PyAny>,
    values: Option<Py<PyAny>>,
    jump: Option<Py<PyAny>>,
    boundary: Option<Py<PyAny>>,
) {
    boundary::listen(boundary);
    *JUMP.lock().unwrap_or_else(PoisonError::into_inner) = jump;
    *VALUE_LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = values;
    *OWNER.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current().id());
    *nest() = Some(Nest::default());
    *LISTENER.lock().unwrap_or_else(PoisonError::into_inner) = Some(listener);
    ACTIVE.store(true, Ordering::Release);
}

/// Stops: emitted code does the plain thing from now on. Takes no lock: a forked child may call it.
#[pyfunction]
pub fn stop_following() {
    ACTIVE.store(false, Ordering::Release);
}

/// Makes a loop known: the file and function it is in, and the loops around it there.
#[pyfunction]
pub fn register_loop(id: String, scope: String, ancestors: Vec<String>) {
    with_nest(|nest| nest.register(id, LoopFacts { scope, ancestors }));
}

/// Whether blocks of the calling thread are memoized.
#[pyfunction]
pub fn following() -> bool {
    is_followed()
}

/// The present place in the loop nest, such as `L1=3/L2#0`.
#[pyfunction]
pub fn loop_path() -> String {
    with_nest(|nest| nest.path())
}

/// A block begins; returns its key.
#[pyfunction]
pub fn enter_block(id: &str) -> String {
    with_nest(|nest| nest.enter_block(id))
}

/// A block is over.
#[pyfunction]
pub fn leave_block(id: &str) {
    with_nest(|nest| nest.leave_block(id));
}

pub fn listener(py: Python<'_>, slot: &Mutex<Option<Py<PyAny>>>) -> Option<Py<PyAny>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|found| found.clone_ref(py))
}

fn tell(py: Python<'_>, path: Option<&str>) -> PyResult<()> {
    if let (Some(path), Some(listener)) = (path, listener(py, &LISTENER)) {
        listener.call1(py, (path,))?;
    }
    Ok(())
}

fn tell_value(py: Python<'_>, path: Option<&str>, item: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    let (Some(path), Some(listener)) = (path, listener(py, &VALUE_LISTENER)) else { return Ok(()) };
    let Some(item) = item else { return listener.call1(py, (path, py.None())).map(|_| ()) };
    let first = item.cast_exact::<PyTuple>().ok().and_then(|tuple| tuple.get_item(0).ok());
    let value = first.as_ref().unwrap_or(item);
    if value.is_exact_instance_of::<PyInt>() {
        listener.call1(py, (path, value))?;
    }
    Ok(())
}

/// Where the innermost loop is to begin instead of at its first iteration, and the iterator that is there.
fn jump(
    py: Python<'_>,
    iterable: Option<&Bound<'_, PyAny>>,
    iterator: Option<&Py<PyAny>>,
) -> PyResult<Option<(i64, Py<PyAny>)>> {
    boundary::look_now();
    let Some(jump) = listener(py, &JUMP) else { return Ok(None) };
    let path = with_nest(|nest| nest.path());
    let place = path.rsplit_once('=').map_or("", |(place, _)| place);
    jump.call1(py, (place, iterable, iterator))?.extract(py)
}

fn told_path(nest: &Nest) -> Option<String> {
    (nest.loops_open() <= TOLD_DEPTH).then(|| nest.path())
}

/// The iterator of a followed loop (paper, Figure 4). Without a session: the iterable itself.
#[pyfunction]
pub fn generator<'py>(id: &str, iterable: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    if !is_followed() {
        return Ok(iterable);
    }
    let py = iterable.py();
    let mut iterator = iterable.try_iter()?.into_any().unbind();
    let depth = with_nest(|nest| nest.enter_loop(id));
    if let Some((index, there)) = jump(py, Some(&iterable), Some(&iterator))? {
        with_nest(|nest| nest.set_index(depth, index - 1));
        iterator = there;
    }
    Ok(Bound::new(py, Followed { iterator, depth, over: false })?.into_any())
}

/// A `while` loop begins: it is another one than when it ran before.
#[pyfunction]
pub fn begin(id: &str) {
    if is_followed() {
        with_nest(|nest| nest.enter_loop(id));
    }
}

/// Counts an evaluation of a `while` loop's condition. Always true.
#[pyfunction]
pub fn tick(py: Python<'_>, id: &str) -> PyResult<bool> {
    if is_followed() {
        let (depth, index, held) = with_nest(|nest| nest.tick(id));
        if held {
            boundary::look_now();
        }
        if let Some((index, _)) = if index == 0 { jump(py, None, None)? } else { None } {
            with_nest(|nest| nest.set_index(depth, index));
        }
        let path = with_nest(|nest| told_path(nest));
        tell(py, path.as_deref())?;
    }
    Ok(true)
}

/// An iterator that tells where in the loop nest the program is.
#[pyclass(module = "florc._native", name = "generator_iterator")]
pub struct Followed {
    iterator: Py<PyAny>,
    depth: usize,
    over: bool,
}

#[pymethods]
impl Followed {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let active = !self.over && is_followed();
        let mut path = None;
        if active {
            let depth = self.depth;
            let held;
            (held, path) = with_nest(|nest| (nest.advance(depth), told_path(nest)));
            if held {
                boundary::look_now();
            }
            tell(py, path.as_deref())?;
        }
        let iterator = self.iterator.bind(py);
        // `next(iterator)` through the type's slot: what it raises carries the user's frames and none of ours.
        // SAFETY: `iterator` is an iterator (made by `PyObject_GetIter`), and the GIL is held.
        let item = unsafe { pyo3::ffi::PyIter_Next(iterator.as_ptr()) };
        if item.is_null() {
            let error = PyErr::take(py);
            if active {
                self.over = true;
                with_nest(|nest| nest.leave_loop(self.depth));
                if error.as_ref().is_none_or(|error| error.is_instance_of::<PyStopIteration>(py)) {
                    tell_value(py, path.as_deref(), None)?;
                }
            }
            return Err(error.unwrap_or_else(|| PyStopIteration::new_err(())));
        }
        // SAFETY: `PyIter_Next` returned a new, non-null reference.
        let item = unsafe { Bound::from_owned_ptr(py, item) };
        tell_value(py, path.as_deref(), Some(&item))?;
        Ok(item.unbind())
    }
}
