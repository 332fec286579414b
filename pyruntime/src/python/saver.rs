//! `florc._native.Saver`.
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::encode::part_of;
use crate::materialize::memory;
use crate::materialize::staged::Part;
use crate::save::Saver;

/// Writes zip archives in the background, as `torch.load` reads them.
#[pyclass(name = "Saver", module = "florc._native", frozen)]
pub struct PySaver(Saver);

#[pymethods]
impl PySaver {
    /// `max_staging` is in bytes, by default a quarter of the free memory.
    #[new]
    #[pyo3(signature = (max_staging=None))]
    fn new(max_staging: Option<usize>) -> PyResult<PySaver> {
        let saver = Saver::new(max_staging.unwrap_or_else(memory::quarter_of_free));
        Ok(PySaver(saver?))
    }

    /// Copies entries, each a `MemoryLeaf` or bytes-like, and returns a ticket; the file is written
    /// afterwards. Raises OSError for a file larger than the staging memory that cannot be written.
    fn save(&self, py: Python<'_>, path: PathBuf, names: Vec<String>, parts: &Bound<'_, PyList>) -> PyResult<u64> {
        if names.len() != parts.len() {
            return Err(PyValueError::new_err("every entry needs a name"));
        }
        let mut held = Vec::new();
        let mut found: Vec<Part> = Vec::new();
        for part in parts.iter() {
            found.push(part_of(&part, &mut held)?);
        }
        // SAFETY: bytes objects do not change and live through the call, as do the owners of memory, which the caller does not write to
        py.detach(|| unsafe { self.0.save(path, names, &found) }).map_err(PyOSError::new_err)
    }

    /// Waits until a save is durable (None: all of them). Returns whether it is. Raises OSError when it failed.
    #[pyo3(signature = (ticket=None, timeout_s=None))]
    fn wait(&self, py: Python<'_>, ticket: Option<u64>, timeout_s: Option<f64>) -> PyResult<bool> {
        let step = Duration::from_millis(100);
        let mut left = match timeout_s {
            Some(seconds) => Some(
                Duration::try_from_secs_f64(seconds)
                    .map_err(|_| PyValueError::new_err("timeout_s must be a number of seconds"))?,
            ),
            None => None,
        };
        // Ctrl-C must be able to end a long wait.
        while !py.detach(|| self.0.wait(ticket, Some(left.map_or(step, |left| left.min(step))))) {
            py.check_signals()?;
            left = left.map(|left| left.saturating_sub(step));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
        }
        let failed = match ticket {
            Some(ticket) => self.0.failure(ticket),
            None => Some(self.0.failures().join("\n")).filter(|text| !text.is_empty()),
        };
        failed.map_or(Ok(true), |why| Err(PyOSError::new_err(why)))
    }
}
