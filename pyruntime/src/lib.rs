//! The native half of the runtime: `florc._native`. This file is a list.
use pyo3::prelude::*;

mod errors;
pub mod materialize;
pub mod policy;
mod policy_class;
mod reader;
mod recorder;
pub mod store;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    module.add_class::<policy_class::PyPolicy>()?;
    module.add_class::<reader::PyRunReader>()?;
    module.add_class::<recorder::PyRecorder>()?;
    module.add_function(wrap_pyfunction!(recorder::create_store, module)?)?;
    Ok(())
}
