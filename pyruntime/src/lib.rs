//! The native half of the runtime: `florc._native`. This file is a list.

mod compile;
mod context;
mod follow;

use pyo3::prelude::*;

/// What the Python half calls.
#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_class::<compile::Instrumented>()?;
    m.add_function(wrap_pyfunction!(compile::instrument, m)?)?;
    m.add_function(wrap_pyfunction!(compile::instrument_for_replay, m)?)?;
    m.add_function(wrap_pyfunction!(compile::command_line, m)?)?;
    m.add_function(wrap_pyfunction!(follow::generator, m)?)?;
    m.add_function(wrap_pyfunction!(follow::tick, m)?)?;
    m.add_function(wrap_pyfunction!(follow::start_following, m)?)?;
    m.add_function(wrap_pyfunction!(follow::stop_following, m)?)?;
    m.add_function(wrap_pyfunction!(follow::register_loop, m)?)?;
    m.add_function(wrap_pyfunction!(follow::following, m)?)?;
    m.add_function(wrap_pyfunction!(follow::loop_path, m)?)?;
    m.add_function(wrap_pyfunction!(follow::enter_block, m)?)?;
    m.add_function(wrap_pyfunction!(follow::leave_block, m)?)?;
    Ok(())
}
