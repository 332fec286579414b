//! Clocks that libraries ask: what they showed when the run was recorded, so that a duration that a library keeps is the recorded
//! one. Beyond what is recorded, a clock goes on from what it showed last, as fast as time passes: a library that waits by it
//! waits as long as it meant to.
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt};

use super::observed::gives;
use crate::locks::lock;

#[derive(Clone, Copy)]
pub(super) enum Unit {
    /// A float.
    Seconds,
    /// A whole number.
    Nanoseconds,
}

pub(super) struct Clock {
    unit: Unit,
    /// What it showed last, as a journal has it, and when that was.
    last: Mutex<Option<(i64, Instant)>>,
}

impl Clock {
    pub fn new(unit: Unit) -> Self {
        Self { unit, last: Mutex::new(None) }
    }

    /// It was given back. `number`: as a journal has it, the bits of a float.
    pub fn showed(&self, number: i64) {
        *lock(&self.last) = Some((number, Instant::now()));
    }

    /// What it shows where the record has nothing; None where nothing was given back yet.
    pub fn goes_on<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((number, since)) = gives().then(|| *lock(&self.last)).flatten() else { return Ok(None) };
        let passed = since.elapsed();
        Ok(Some(match self.unit {
            Unit::Seconds => PyFloat::new(py, f64::from_bits(number.cast_unsigned()) + passed.as_secs_f64()).into_any(),
            Unit::Nanoseconds => {
                let passed = i64::try_from(passed.as_nanos()).unwrap_or(i64::MAX);
                PyInt::new(py, number.saturating_add(passed)).into_any()
            }
        }))
    }
}

/// So many values of libraries' clocks are kept: they must not crowd out what the script asks for.
const MOST: usize = 1 << 18;
static KEPT: AtomicUsize = AtomicUsize::new(0);

/// Whether one more is kept.
pub(super) fn has_room() -> bool {
    KEPT.fetch_add(1, Ordering::Relaxed) < MOST
}

/// Whether the script, which runs in this frame, lets go of what the running call returns, as of `log.info(…)`: no value can come
/// of it.
pub(super) fn is_let_go(frame: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = frame.py();
    let code = frame.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_code"))?.cast_into::<PyBytes>()?;
    let (code, last): (&[u8], usize) = (code.as_bytes(), frame.getattr(intern!(py, "f_lasti"))?.extract()?);
    let opcodes = py.import(intern!(py, "opcode"))?.getattr(intern!(py, "opmap"))?.cast_into::<PyDict>()?;
    let pops: Option<u8> = opcodes.get_item("POP_TOP")?.map(|code| code.extract()).transpose()?;
    // room for caches, all zeros, may stand between
    let next = code.get(last + 2..).into_iter().flatten().step_by(2).find(|code| **code != 0);
    Ok(next.is_some() && next.copied() == pops)
}
