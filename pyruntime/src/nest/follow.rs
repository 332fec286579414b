//! What emitted loops call once per iteration: native, so that it costs little and adds no frame to a traceback.

use super::blocks;
use super::entered;
use super::iteration;
use super::levels::{LoopFacts, Nest, Running};
use super::live::{NEST, with_nest};
use super::numbers::{Numbers, Told};
use super::owner::{self, is_followed, listener};
use super::pace::Pace;
use super::quick::Quick;
use crate::guard::panics::{guard, harmless, mishap};
use crate::guard::stalled;
use crate::locks::lock;
use pyo3::exceptions::PyStopIteration;
use pyo3::ffi;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Methods of the session, see `start_following`.
static ITERATION: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static PASSED: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static VALUE: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static JUMP: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
/// The loops that are known.
static KNOWN: Mutex<BTreeMap<String, LoopFacts>> = Mutex::new(BTreeMap::new());
static PACE: Mutex<Option<Pace>> = Mutex::new(None);

/// Loops nested deeper than this are followed without telling the session of each iteration.
const TOLD_DEPTH: usize = 3;

/// Starts following loops for a session. Of its methods, those that are there are called: `iteration(path)` as an iteration
/// begins, at most every `pace` seconds (it may raise); `passed(path)` of the last iteration of a loop that is over, if it
/// was not told of that; `value(path, number)` when an iteration is over a whole number (of a tuple, the first) that does not follow
/// from those before (`Numbers`), with False when the loop is over none, and with None when it turns out to have no such iteration; `jump(place, iterable, iterator)` where a
/// loop begins, whether to begin with a later iteration: its index and an iterator that is there, or None (of a `while`
/// loop there are no iterables); `boundary(loop, objects)`, see `boundary`; `step_into(block, frame)` and
/// `end(block, objects, maybe, globals, frame)`, see `step_into` and `end`. `keeps_left`: see `Nest::new`.
#[pyfunction]
pub fn start_following(session: &Bound<'_, PyAny>, pace: f64, keeps_left: bool) -> PyResult<()> {
    let method = |name| session.getattr_opt(name).map(|found| found.map(Bound::unbind));
    iteration::listen(method("boundary")?);
    blocks::listen(method("step_into")?, method("end")?);
    for (slot, name) in [(&JUMP, "jump"), (&VALUE, "value"), (&PASSED, "passed"), (&ITERATION, "iteration")] {
        *lock(slot) = method(name)?;
    }
    *lock(&PACE) = Some(Pace::new(Duration::try_from_secs_f64(pace).unwrap_or_default()));
    owner::take_this_thread();
    let mut nest = Nest::new(keeps_left);
    if !keeps_left {
        // what was compiled before was not known to those runs
        lock(&KNOWN).iter().for_each(|(id, facts)| nest.register(id.clone(), facts.clone()));
    }
    *lock(&NEST) = Some(nest);
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

/// Makes a loop known, to the present session and to later ones: a script is compiled before it is followed.
pub fn register_loop(id: String, facts: LoopFacts) {
    lock(&KNOWN).insert(id.clone(), facts.clone());
    with_nest(|nest| nest.register(id, facts));
}

/// The session is not asked about the next so many executions of a block, and about none that begins within so many seconds: they
/// run. A block of which none is passed by is in reserve no more, in later sessions either.
#[pyfunction]
pub fn pass_by(block: &str, times: u64, seconds: f64) {
    if times == 0
        && let Some(facts) = lock(&KNOWN).get_mut(block)
    {
        facts.in_reserve = false;
    }
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    with_nest(|nest| nest.pass_by(block, times, time));
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

/// The place where the exception arose that ended the script: those loops are left.
#[pyfunction]
pub fn raised_at() -> String {
    with_nest(|nest| nest.raised_at())
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
pub(super) fn announce(py: Python<'_>, quick: &mut Quick) -> PyResult<Option<String>> {
    let now = Instant::now();
    stalled::moved();
    let (told, path) = {
        let nest = lock(&NEST);
        let Some(nest) = nest.as_ref() else { return Ok(None) };
        let mut pace = lock(&PACE);
        let Some(pace) = pace.as_mut() else { return Ok(None) };
        if let Some(counter) = nest.counter() {
            quick.looked(now, counter, pace.interval());
        }
        let Some(here) = nest.here().filter(|here| here.depth < TOLD_DEPTH) else { return Ok(None) };
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

/// The number of an iteration is told, where it does not follow from those before.
fn tell_value(py: Python<'_>, told: &Told) -> PyResult<()> {
    let path = with_nest(|nest| nest.here().filter(|here| here.depth < TOLD_DEPTH).map(|_| nest.path()));
    let (Some(path), Some(listener)) = (path, listener(py, &VALUE)) else { return Ok(()) };
    match told {
        Told::Number(number) => listener.call1(py, (path, number)).map(|_| ()),
        _ => listener.call1(py, (path, false)).map(|_| ()),
    }
}

/// A loop is over; `is_end`: by itself, so that what `announce` told of last is no iteration. The session is told, and when this
/// was seen.
pub(super) fn announce_end(py: Python<'_>, running: Running, is_end: bool) -> PyResult<()> {
    let left = with_nest(|nest| nest.leave_loop(running, !is_end));
    let Some(left) = left.filter(|left| is_end && left.here.depth < TOLD_DEPTH) else { return Ok(()) };
    let is_silent = lock(&PACE).as_mut().is_some_and(|pace| pace.ends(left.here.run));
    if let (true, Some(listener)) = (is_silent, listener(py, &PASSED)) {
        listener.call1(py, (&left.path,))?;
    }
    if let Some(listener) = listener(py, &VALUE) {
        listener.call1(py, (left.path, py.None()))?;
    }
    Ok(())
}

/// A loop was left in the middle, by `break`, `return` or an exception; `is_unseen`: in an iteration that was not looked at. Raises
/// nothing and leaves an exception that is on its way where it is.
pub(super) fn leave(py: Python<'_>, running: Running, is_unseen: bool) {
    // SAFETY: the GIL is held
    let by_error = unsafe { !ffi::PyErr_Occurred().is_null() };
    let left = guard(|| {
        let left = if is_followed() { with_nest(|nest| nest.leave_in_the_middle(running, by_error)) } else { None };
        if let Some(left) = left.filter(|left| is_unseen && left.here.depth < TOLD_DEPTH)
            && let Some(pace) = lock(&PACE).as_mut()
        {
            pace.passed(&left.here, || left.path.rsplit_once('=').map_or("", |(place, _)| place).to_owned());
        }
        Ok(())
    });
    if let Err(error) = left {
        let mut pending = [std::ptr::null_mut(); 3];
        let [kind, value, traceback] = &mut pending;
        // SAFETY: the GIL is held; what is fetched, be it null, is put back as it was
        unsafe { ffi::PyErr_Fetch(kind, value, traceback) };
        drop(mishap(py, "where a loop is left", error));
        // SAFETY: as above
        unsafe { ffi::PyErr_Restore(*kind, *value, *traceback) };
    }
}

/// Where the innermost loop is to begin instead of at its first iteration, and the iterator that is there.
pub(super) fn jump(
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
            let Some(running) = with_nest(|nest| Some(nest.enter_loop(id))) else { return Ok(iterator.clone()) };
            let mut begins = iterator.clone().unbind();
            if let Some((index, there)) = jump(py, Some(&iterable), Some(&begins))? {
                with_nest(|nest| nest.set_index(running, index - 1));
                begins = there;
            }
            Ok(Bound::new(
                py,
                Followed {
                    iterator: begins,
                    running,
                    over: false,
                    quick: Quick::default(),
                    numbers: Numbers::default(),
                },
            )?
            .into_any())
        },
    )
}

/// An iterator that tells where in the loop nest the program is.
#[pyclass(module = "florc._native", name = "generator_iterator")]
pub struct Followed {
    iterator: Py<PyAny>,
    running: Running,
    over: bool,
    quick: Quick,
    numbers: Numbers,
}

impl Drop for Followed {
    fn drop(&mut self) {
        if !self.over {
            Python::attach(|py| leave(py, self.running, self.quick.has_passed()));
        }
    }
}

#[pymethods]
impl Followed {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.quick.passes() {
            return match self.item(py) {
                Ok(item) => self.told(item),
                Err(error) => self.end(py, error),
            };
        }
        let running = self.running;
        let quick = &mut self.quick;
        let active = !self.over && is_followed();
        let begins = || {
            if !active {
                return Ok(None);
            }
            if with_nest(|nest| nest.advance(running)) {
                iteration::look_now();
            }
            announce(py, quick)
        };
        harmless(py, "at the start of an iteration", || None, begins)?;
        match self.item(py) {
            Ok(item) if active => self.told(item),
            Ok(item) => Ok(item.unbind()),
            Err(error) if active => self.end(py, error),
            Err(error) => Err(ended_by(error)),
        }
    }
}

impl Followed {
    /// `next(iterator)` through the type's slot: what it raises carries the user's frames and none of ours. None where it has no more.
    fn item<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>, Option<PyErr>> {
        // SAFETY: `iterator` is an iterator (made by `PyObject_GetIter`), and the GIL is held; the result is new, or null
        let item = unsafe { Bound::from_owned_ptr_or_opt(py, ffi::PyIter_Next(self.iterator.as_ptr())) };
        item.ok_or_else(|| PyErr::take(py))
    }

    fn told(&mut self, item: Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let py = item.py();
        let told = self.numbers.next(&item);
        if told != Told::Nothing {
            harmless(py, "at the start of an iteration", || (), || tell_value(py, &told))?;
        }
        Ok(item.unbind())
    }

    /// The iterator has no more, or raised.
    fn end(&mut self, py: Python<'_>, error: Option<PyErr>) -> PyResult<Py<PyAny>> {
        (self.over, self.quick) = (true, Quick::default());
        let is_end = error.as_ref().is_none_or(|error| error.is_instance_of::<PyStopIteration>(py));
        harmless(py, "at the end of a loop", || (), || announce_end(py, self.running, is_end))?;
        Err(ended_by(error))
    }
}

fn ended_by(error: Option<PyErr>) -> PyErr {
    error.unwrap_or_else(|| PyStopIteration::new_err(()))
}
