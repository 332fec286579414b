//! The native half of the runtime: `florc._native`. This file is a list.

mod audit;
mod boundary;
mod check;
mod compile;
mod context;
mod distributions;
mod encode;
mod entered;
mod errors;
mod follow;
mod forking;
mod hashes;
mod housekeeping;
mod inputs;
mod interrupts;
mod line_table;
mod locks;
mod main_script;
pub mod materialize;
mod pace;
pub mod policy;
mod policy_class;
mod reader;
mod recorder;
mod redirect;
pub mod save;
mod saver_class;
pub mod store;
mod tap;
mod texts;

use pyo3::prelude::*;

/// What the Python half calls.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    errors::register(module)?;
    module.add("RUNTIME_NAMES", florc::emit::RUNTIME_NAMES.to_vec())?;
    module.add_class::<compile::Instrumented>()?;
    module.add_class::<encode::Classes>()?;
    module.add_class::<encode::Leaves>()?;
    module.add_class::<encode::Walk>()?;
    module.add_class::<policy_class::PyPolicy>()?;
    module.add_class::<reader::PyRunReader>()?;
    module.add_class::<recorder::PyRecorder>()?;
    module.add_class::<redirect::Redirect>()?;
    module.add_class::<saver_class::PySaver>()?;
    module.add_class::<tap::PySeen>()?;
    module.add_function(wrap_pyfunction!(check::chunk_hashes, module)?)?;
    module.add_function(wrap_pyfunction!(check::diff_lines, module)?)?;
    module.add_function(wrap_pyfunction!(compile::command_line, module)?)?;
    module.add_function(wrap_pyfunction!(compile::instrument, module)?)?;
    module.add_class::<compile::Project>()?;
    module.add_class::<compile::Comparison>()?;
    module.add_function(wrap_pyfunction!(audit::listen, module)?)?;
    module.add_function(wrap_pyfunction!(audit::listen_no_more, module)?)?;
    module.add_function(wrap_pyfunction!(boundary::boundary, module)?)?;
    module.add_function(wrap_pyfunction!(boundary::look_after, module)?)?;
    module.add("entered", entered::entered(module.py())?)?;
    module.add_function(wrap_pyfunction!(entered::entered_elsewhere, module)?)?;
    module.add_function(wrap_pyfunction!(follow::begin, module)?)?;
    module.add_function(wrap_pyfunction!(follow::entered_since, module)?)?;
    module.add_function(wrap_pyfunction!(follow::enter_block, module)?)?;
    module.add_function(wrap_pyfunction!(follow::following, module)?)?;
    module.add_function(wrap_pyfunction!(follow::generator, module)?)?;
    module.add_function(wrap_pyfunction!(follow::last_passed, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::in_added, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::inputs_asked_now, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::inputs_missing, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::inputs_spent, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::inputs_taken, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::observe, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::observe_no_more, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::observed, module)?)?;
    module.add_function(wrap_pyfunction!(distributions::distributions, module)?)?;
    module.add_function(wrap_pyfunction!(interrupts::hold_interrupts, module)?)?;
    module.add_function(wrap_pyfunction!(interrupts::interrupted_at, module)?)?;
    module.add_function(wrap_pyfunction!(interrupts::release_interrupts, module)?)?;
    module.add_function(wrap_pyfunction!(interrupts::watch_interrupts, module)?)?;
    module.add_function(wrap_pyfunction!(follow::leave_block, module)?)?;
    module.add_function(wrap_pyfunction!(follow::loop_path, module)?)?;
    module.add_function(wrap_pyfunction!(follow::register_loop, module)?)?;
    module.add_function(wrap_pyfunction!(follow::start_following, module)?)?;
    module.add_function(wrap_pyfunction!(follow::stop_following, module)?)?;
    module.add_function(wrap_pyfunction!(follow::forget, module)?)?;
    module.add_function(wrap_pyfunction!(follow::tick, module)?)?;
    module.add_function(wrap_pyfunction!(main_script::run_main, module)?)?;
    module.add_function(wrap_pyfunction!(errors::panic_at, module)?)?;
    module.add_function(wrap_pyfunction!(housekeeping::free, module)?)?;
    module.add_function(wrap_pyfunction!(housekeeping::usage, module)?)?;
    module.add_function(wrap_pyfunction!(texts::from_json, module)?)?;
    module.add_function(wrap_pyfunction!(texts::to_json, module)?)?;
    module.add_function(wrap_pyfunction!(recorder::create_store, module)?)?;
    Ok(())
}
