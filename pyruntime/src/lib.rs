//! The native half of the runtime: `florc._native`. This file is a list.
use pyo3::prelude::*;

pub mod materialize;
pub mod policy;
pub mod store;

#[pymodule]
fn _native(_m: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
