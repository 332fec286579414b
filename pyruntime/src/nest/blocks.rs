//! What emitted code calls where a block begins and where it ends: native, because most executions of short blocks are passed by.

use super::live::with_nest;
use super::owner::{is_followed, listener};
use crate::guard::panics::harmless;
use crate::guard::stalled;
use crate::locks::lock;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::Mutex;

/// `step_into(block, frame)` and `end(block, objects, maybe, globals, frame)` of the session.
static STEP_INTO: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
static END: Mutex<Option<Py<PyAny>>> = Mutex::new(None);

pub fn listen(step_into: Option<Py<PyAny>>, end: Option<Py<PyAny>>) {
    let before = (std::mem::replace(&mut *lock(&STEP_INTO), step_into), std::mem::replace(&mut *lock(&END), end));
    drop(before);
}

/// A block begins: whether it is to run. Without a session: yes.
#[pyfunction]
pub fn step_into(py: Python<'_>, block: &str) -> PyResult<bool> {
    if !is_followed() || harmless(py, "where a block begins", || false, || Ok(with_nest(|nest| nest.passes(block))))? {
        return Ok(true);
    }
    let asked = harmless(py, "where a block begins", || None, || Ok(listener(py, &STEP_INTO)))?;
    let Some(asked) = asked else { return Ok(true) };
    stalled::moved();
    asked.call1(py, (block, frame(py)))?.extract(py)
}

/// The block ran. `objects` are the places of its changeset in the order of the plan; `maybe` names places that may be unbound,
/// `globals` names globals of the file that the block's own function does not see; `attributes` names places that are read without
/// running the code of a property.
#[pyfunction]
#[pyo3(signature = (block, *objects, maybe=None, globals=None, attributes=None))]
pub fn end(
    py: Python<'_>,
    block: &str,
    objects: &Bound<'_, PyTuple>,
    maybe: Option<&Bound<'_, PyTuple>>,
    globals: Option<&Bound<'_, PyTuple>>,
    attributes: Option<&Bound<'_, PyTuple>>,
) -> PyResult<()> {
    // named one by one: a dict of them would be made for each execution
    let _ = attributes;
    let is_over = || Ok(with_nest(|nest| nest.leave_passed(block)));
    if !is_followed() || harmless(py, "where a block ends", || false, is_over)? {
        return Ok(());
    }
    let Some(told) = harmless(py, "where a block ends", || None, || Ok(listener(py, &END)))? else { return Ok(()) };
    let none = PyTuple::empty(py);
    told.call1(py, (block, objects, maybe.unwrap_or(&none), globals.unwrap_or(&none), frame(py)))?;
    Ok(())
}

/// How many references there are to each of `objects` while they are passed, as `end` gets them.
#[pyfunction]
#[pyo3(signature = (block, *objects, maybe=None, globals=None, attributes=None))]
pub fn references_in_call(
    block: &str,
    objects: &Bound<'_, PyTuple>,
    maybe: Option<&Bound<'_, PyTuple>>,
    globals: Option<&Bound<'_, PyTuple>>,
    attributes: Option<&Bound<'_, PyTuple>>,
) -> Vec<isize> {
    let _ = (block, maybe, globals, attributes);
    // SAFETY: the tuple holds them; borrowed, so that none is added
    objects.iter_borrowed().map(|object| unsafe { ffi::Py_REFCNT(object.as_ptr()) }).collect()
}

/// The frame of the code that calls; native code has none.
fn frame(py: Python<'_>) -> Option<Bound<'_, PyAny>> {
    // SAFETY: the GIL is held; a borrowed reference to the running frame, or null, comes back
    unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) }
}
