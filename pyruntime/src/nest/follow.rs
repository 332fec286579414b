//! What emitted loops call once per iteration: native, so that it costs little and adds no frame to a traceback.

use super::blocks;
use super::entered;
use super::iteration;
use super::levels::{Here, LoopFacts, Nest};
use super::live::{NEST, with_nest};
use super::owner::{self, is_followed, listener};
use super::pace::Pace;
use crate::guard::panics::harmless;
use crate::locks::lock;
use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Methods of the session, see `start_following`.
static ITERATION: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static PASSED: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static VALUE: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static JUMP: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static PACE: Mutex<Option<Pace>> = Mutex::new(None);

/// Loops nested deeper than this are followed without telling the session of each iteration.
const TOLD_DEPTH: usize = 3;

/// Starts following loops for a session. Of its methods, those that are there are called: `iteration(path)` as an iteration
/// begins, at most every `pace` seconds (it may raise); `passed(path)` of the last iteration of a loop that is over, if it
/// was not told of that; `value(path, number)` when an iteration that it was told of is over a whole number (of a tuple,
/// the first), and with None when the loop turns out to have no such iteration; `jump(place, iterable, iterator)` where a
/// loop begins, whether to begin with a later iteration: its index and an iterator that is there, or None (of a `while`
/// loop there are no iterables); `boundary(loop, objects)`, see `boundary`; `step_into(block, frame)` and
/// `end(block, objects, maybe, globals, frame)`, see `step_into` and `end`.
#[pyfunction]
pub fn start_following(session: &Bound<'_, PyAny>, pace: f64) -> PyResult<()> {
    let method = |name| session.getattr_opt(name).map(|found| found.map(Bound::unbind));
    iteration::listen(method("boundary")?);
    blocks::listen(method("step_into")?, method("end")?);
    for (slot, name) in [(&JUMP, "jump"), (&VALUE, "value"), (&PASSED, "passed"), (&ITERATION, "iteration")] {
        *lock(slot) = method(name)?;
    }
    *lock(&PACE) = Some(Pace::new(Duration::try_from_secs_f64(pace).unwrap_or_default()));
    owner::take_this_thread();
    *lock(&NEST) = Some(Nest::default());
    entered::follow_this_thread(true);
    owner::begin();
    Ok(())
}

/// The last iteration, if the session was not told of it.
#[pyfunction]
pub fn last_passed() -> Option<String> {
    lock(&PACE).as_mut().and_then(Pace::last)
}

/// Stops: emitted code does the plain thing from now on. Takes no lock: a forked child may call it.
#[pyfunction]
pub fn stop_following() {
    owner::end();
    entered::follow_this_thread(false);
}

/// Lets go of the session that was followed.
#[pyfunction]
pub fn forget() {
    iteration::listen(None);
    blocks::listen(None, None);
    for slot in [&JUMP, &VALUE, &PASSED, &ITERATION] {
        let held = lock(slot).take();
        drop(held);
    }
}

/// Makes a loop known.
pub fn register_loop(id: String, facts: LoopFacts) {
    with_nest(|nest| nest.register(id, facts));
}

/// Whether blocks of the calling thread are memoized.
#[pyfunction]
pub fn following(py: Python<'_>) -> PyResult<bool> {
    harmless(py, "at a block", || false, || Ok(is_followed()))
}

/// The present place in the loop nest, such as `L1=3/L2#0`.
#[pyfunction]
pub fn loop_path() -> String {
    with_nest(|nest| nest.path())
}

/// The present place as a text that is the same object as long as it is the same place.
pub fn place_now() -> Arc<str> {
    with_nest(|nest| nest.shared_path())
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

/// The numbers of the functions that were entered since a running block began, or, with None, since the innermost loop began
/// that runs; None where there is no such block or loop, or no function that tells.
#[pyfunction]
#[pyo3(signature = (block=None))]
pub fn entered_since(block: Option<&str>) -> Option<Vec<usize>> {
    with_nest(|nest| nest.begun(block)).and_then(entered::since)
}

/// An iteration of the innermost loop begins: the session may be told. Returns its path if it was.
fn announce(py: Python<'_>) -> PyResult<Option<String>> {
    let now = Instant::now();
    let (told, path) = {
        let nest = lock(&NEST);
        let Some(nest) = nest.as_ref() else { return Ok(None) };
        let Some(here) = nest.here().filter(|here| here.depth < TOLD_DEPTH) else { return Ok(None) };
        let mut pace = lock(&PACE);
        let Some(pace) = pace.as_mut() else { return Ok(None) };
        let told = pace.begins(&here, now, || nest.place());
        let path = told.this.then(|| nest.path());
        (told, path)
    };
    if let (Some(passed), Some(listener)) = (told.passed, listener(py, &PASSED)) {
        listener.call1(py, (passed,))?;
    }
    if let (Some(path), Some(listener)) = (&path, listener(py, &ITERATION)) {
        listener.call1(py, (path,))?;
    }
    Ok(path)
}

fn tell_value(py: Python<'_>, path: Option<&str>, item: &Bound<'_, PyAny>) -> PyResult<()> {
    let (Some(path), Some(listener)) = (path, listener(py, &VALUE)) else { return Ok(()) };
    let first = item.cast_exact::<PyTuple>().ok().and_then(|tuple| tuple.get_item(0).ok());
    let value = first.as_ref().unwrap_or(item);
    if value.is_exact_instance_of::<PyInt>() {
        listener.call1(py, (path, value))?;
    }
    Ok(())
}

/// The loop has no such iteration. The session is told, and when this was seen.
fn announce_end(py: Python<'_>, here: Option<Here>, path: String, told: bool) -> PyResult<()> {
    let Some(here) = here.filter(|here| here.depth < TOLD_DEPTH) else { return Ok(()) };
    if let Some(pace) = lock(&PACE).as_mut() {
        pace.ends(here.run);
    }
    if let (false, Some(listener)) = (told, listener(py, &PASSED)) {
        listener.call1(py, (&path,))?;
    }
    if let Some(listener) = listener(py, &VALUE) {
        listener.call1(py, (path, py.None()))?;
    }
    Ok(())
}

/// Where the innermost loop is to begin instead of at its first iteration, and the iterator that is there.
fn jump(
    py: Python<'_>,
    iterable: Option<&Bound<'_, PyAny>>,
    iterator: Option<&Py<PyAny>>,
) -> PyResult<Option<(i64, Py<PyAny>)>> {
    iteration::look_now();
    let Some(jump) = listener(py, &JUMP) else { return Ok(None) };
    let place = with_nest(|nest| nest.place());
    jump.call1(py, (place, iterable, iterator))?.extract(py)
}

/// The iterator of a followed loop (paper, Figure 4). Without a session: the iterable itself.
#[pyfunction]
pub fn generator<'py>(id: &str, iterable: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = iterable.py();
    if !harmless(py, "at the start of a loop", || false, || Ok(is_followed()))? {
        return Ok(iterable);
    }
    let iterator = iterable.try_iter()?.into_any();
    harmless(
        py,
        "at the start of a loop",
        || iterator.clone(),
        || {
            let depth = with_nest(|nest| nest.enter_loop(id));
            let mut begins = iterator.clone().unbind();
            if let Some((index, there)) = jump(py, Some(&iterable), Some(&begins))? {
                with_nest(|nest| nest.set_index(depth, index - 1));
                begins = there;
            }
            Ok(Bound::new(py, Followed { iterator: begins, depth, over: false })?.into_any())
        },
    )
}

/// A `while` loop begins: it is another one than when it ran before.
#[pyfunction]
pub fn begin(py: Python<'_>, id: &str) -> PyResult<()> {
    harmless(
        py,
        "at the start of a loop",
        || (),
        || {
            if is_followed() {
                with_nest(|nest| nest.enter_loop(id));
            }
            Ok(())
        },
    )
}

/// Counts an evaluation of a `while` loop's condition. Always true.
#[pyfunction]
pub fn tick(py: Python<'_>, id: &str) -> PyResult<bool> {
    harmless(
        py,
        "at the start of an iteration",
        || true,
        || {
            if is_followed() {
                let (depth, index, held) = with_nest(|nest| nest.tick(id));
                if held {
                    iteration::look_now();
                }
                if let Some((index, _)) = if index == 0 { jump(py, None, None)? } else { None } {
                    with_nest(|nest| nest.set_index(depth, index));
                }
                announce(py)?;
            }
            Ok(true)
        },
    )
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
        let depth = self.depth;
        let begins = || {
            let active = !self.over && is_followed();
            let mut path = None;
            if active {
                if with_nest(|nest| nest.advance(depth)) {
                    iteration::look_now();
                }
                path = announce(py)?;
            }
            Ok((active, path))
        };
        let (active, path) = harmless(py, "at the start of an iteration", || (false, None), begins)?;
        let iterator = self.iterator.bind(py);
        // `next(iterator)` through the type's slot: what it raises carries the user's frames and none of ours.
        // SAFETY: `iterator` is an iterator (made by `PyObject_GetIter`), and the GIL is held.
        let item = unsafe { pyo3::ffi::PyIter_Next(iterator.as_ptr()) };
        if item.is_null() {
            let error = PyErr::take(py);
            if active {
                self.over = true;
                let is_end = error.as_ref().is_none_or(|error| error.is_instance_of::<PyStopIteration>(py));
                harmless(
                    py,
                    "at the end of a loop",
                    || (),
                    || {
                        let (here, last) = with_nest(|nest| (nest.here(), nest.path()));
                        with_nest(|nest| nest.leave_loop(depth));
                        if is_end { announce_end(py, here, last, path.is_some()) } else { Ok(()) }
                    },
                )?;
            }
            return Err(error.unwrap_or_else(|| PyStopIteration::new_err(())));
        }
        // SAFETY: `PyIter_Next` returned a new, non-null reference.
        let item = unsafe { Bound::from_owned_ptr(py, item) };
        harmless(py, "at the start of an iteration", || (), || tell_value(py, path.as_deref(), &item))?;
        Ok(item.unbind())
    }
}
