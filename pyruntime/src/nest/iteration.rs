//! The start of an iteration of a loop that trains itself: native, because most of them are not looked at.

use super::owner::{is_followed, listener};
use crate::guard::panics::harmless;
use crate::locks::lock;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

/// `boundary(loop, objects)` of the session.
static LISTENER: Mutex<Option<Py<PyAny>>> = Mutex::new(None);
/// Until then (nanoseconds since `epoch`) no iteration is looked at.
static DUE: AtomicU64 = AtomicU64::new(0);

fn now() -> Duration {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed()
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

pub fn listen(told: Option<Py<PyAny>>) {
    *lock(&LISTENER) = told;
    look_now();
}

/// The next iteration is looked at: it is another loop's than the last.
pub fn look_now() {
    DUE.store(0, Ordering::Relaxed);
}

/// For so many seconds no iteration of this loop needs to be looked at.
#[pyfunction]
pub fn look_after(seconds: f64) {
    let pause = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
    DUE.store(nanoseconds(now().saturating_add(pause)), Ordering::Relaxed);
}

/// An iteration begins: whether to put the state of another one in its place. `objects` and the keywords are those of
/// `skipblock.end`.
#[pyfunction]
#[pyo3(signature = (loop_id, *objects, maybe=None, globals=None, attributes=None))]
pub fn boundary(
    py: Python<'_>,
    loop_id: &str,
    objects: &Bound<'_, PyTuple>,
    maybe: Option<&Bound<'_, PyTuple>>,
    globals: Option<&Bound<'_, PyTuple>>,
    attributes: Option<&Bound<'_, PyTuple>>,
) -> PyResult<bool> {
    // named one by one: a dict of them would be made for each iteration
    let _ = (maybe, globals, attributes);
    harmless(
        py,
        "at the start of an iteration",
        || false,
        || {
            if !is_followed() || nanoseconds(now()) < DUE.load(Ordering::Relaxed) {
                return Ok(false);
            }
            match listener(py, &LISTENER) {
                Some(listener) => listener.call1(py, (loop_id, objects))?.extract(py),
                None => Ok(false),
            }
        },
    )
}
