//! The command line, which the compiler's half reads.
use florc::cli::{Outcome, run};
use pyo3::prelude::*;

use super::compile::deep;

/// Reads a command line (program name first). Commands that need no Python process run here.
///
/// Returns the exit code, or the arguments of a command that runs Python code, as JSON.
#[pyfunction]
pub fn command_line(py: Python<'_>, argv: Vec<String>) -> PyResult<(Option<i32>, Option<String>)> {
    Ok(match deep(py, || Ok(run(argv)))? {
        Outcome::Done(code) => (Some(code), None),
        Outcome::Runtime(command) => (None, serde_json::to_string(&command).ok()),
    })
}
