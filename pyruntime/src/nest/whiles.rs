//! What emitted `while` loops call: they have no iterator of their own (docs/instrumentation.md).

use super::follow::{announce, announce_end, jump, leave};
use super::iteration;
use super::levels::Running;
use super::live::with_nest;
use super::owner::is_followed;
use super::quick::Quick;
use crate::guard::panics::harmless;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::cell::{Cell, RefCell};

thread_local! {
    /// The `while` loop whose condition was evaluated last: by where its id is in memory, which lives as long as the code.
    static QUICK_OF: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static QUICK: RefCell<Quick> = RefCell::new(Quick::default());
}

/// A `while` loop begins: it is another one than when it ran before. Something to iterate over once, around it: when that goes,
/// however the loop was left, it is over.
#[pyfunction(name = "loop")]
pub fn whole<'py>(py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyAny>> {
    match enter(py, id)? {
        Some(running) => Ok(Bound::new(py, Whole { running, begun: false })?.into_any()),
        None => PyTuple::new(py, [PyTuple::empty(py)]).map(Bound::into_any),
    }
}

fn enter(py: Python<'_>, id: &str) -> PyResult<Option<Running>> {
    let enters = || Ok(if is_followed() { with_nest(|nest| Some(nest.enter_loop(id))) } else { None });
    harmless(py, "at the start of a loop", || None, enters)
}

/// The same where nothing can be put around the loop: it is over when its condition is false, and else when a loop around it
/// goes on.
#[pyfunction]
pub fn begin(py: Python<'_>, id: &str) -> PyResult<()> {
    enter(py, id).map(|_| ())
}

/// Counts an evaluation of a `while` loop's condition. Always true.
#[pyfunction]
pub fn tick(py: Python<'_>, id: &str) -> PyResult<bool> {
    if QUICK_OF.get() == (id.as_ptr().addr(), id.len()) && QUICK.with_borrow_mut(Quick::passes) {
        return Ok(true);
    }
    harmless(
        py,
        "at the start of an iteration",
        || true,
        || {
            if is_followed() {
                let Some((running, index, held)) = with_nest(|nest| Some(nest.tick(id))) else { return Ok(true) };
                if held {
                    iteration::look_now();
                }
                if let Some((index, _)) = if index == 0 { jump(py, None, None)? } else { None } {
                    with_nest(|nest| nest.set_index(running, index));
                }
                QUICK_OF.set((id.as_ptr().addr(), id.len()));
                let mut quick = QUICK.take(); // the session may run code of the script that has loops, too
                let announced = announce(py, &mut quick);
                QUICK.set(quick);
                announced?;
            }
            Ok(true)
        },
    )
}

/// The condition of a `while` loop is false. So is this.
#[pyfunction]
pub fn over(py: Python<'_>, id: &str) -> PyResult<bool> {
    harmless(
        py,
        "at the end of a loop",
        || false,
        || {
            let running = if is_followed() { with_nest(|nest| nest.ending(id)) } else { None };
            running.map_or(Ok(()), |running| announce_end(py, running, true))?;
            Ok(false)
        },
    )
}

/// A `while` loop around which nothing can stand is left by `break`.
#[pyfunction]
pub fn left(py: Python<'_>, id: &str) {
    if let Some(running) = if is_followed() { with_nest(|nest| nest.ending(id)) } else { None } {
        leave(py, running, QUICK.with_borrow(Quick::has_passed));
    }
}

/// What is there as long as a `while` loop runs.
#[pyclass(module = "florc._native", name = "loop_iterator")]
pub struct Whole {
    running: Running,
    begun: bool,
}

#[pymethods]
impl Whole {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyTuple>> {
        (!std::mem::replace(&mut self.begun, true)).then(|| PyTuple::empty(py))
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        Python::attach(|py| leave(py, self.running, QUICK.with_borrow(Quick::has_passed)));
    }
}
