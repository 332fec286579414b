//! The native half of the runtime: `florc._native`. This file is a list.

mod encode;
mod guard;
mod inputs;
mod locks;
pub mod materialize;
mod nest;
pub mod policy;
mod process;
mod project;
mod python;
pub mod save;
pub mod store;

use pyo3::prelude::*;

/// What the Python half calls.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard::panics::adopt_panics(module.py())?;
    guard::exceptions::register(module)?;
    module.add("RUNTIME_NAMES", florc::emit::RUNTIME_NAMES.to_vec())?;
    module.add_class::<project::compile::Instrumented>()?;
    module.add_class::<encode::Classes>()?;
    module.add_class::<encode::Leaves>()?;
    module.add_class::<encode::MemoryLeaf>()?;
    module.add_class::<encode::Walk>()?;
    module.add_class::<python::path::PyPath>()?;
    module.add_class::<python::policy::PyPolicy>()?;
    module.add_class::<python::reader::PyRunReader>()?;
    module.add_class::<python::recorder::PyRecorder>()?;
    module.add_class::<process::redirect::Redirect>()?;
    module.add_class::<python::saver::PySaver>()?;
    module.add_class::<process::tap::PySeen>()?;
    module.add_function(wrap_pyfunction!(python::check::chunk_hashes, module)?)?;
    module.add_function(wrap_pyfunction!(python::check::diff_lines, module)?)?;
    module.add_function(wrap_pyfunction!(python::sizes::most_packed, module)?)?;
    module.add_function(wrap_pyfunction!(python::sizes::most_staged, module)?)?;
    module.add_function(wrap_pyfunction!(project::command_line::command_line, module)?)?;
    module.add_function(wrap_pyfunction!(project::compile::instrument, module)?)?;
    module.add_class::<project::files::Project>()?;
    module.add_class::<project::plan::Loop>()?;
    module.add_class::<project::plan::Place>()?;
    module.add_class::<project::plan::Plan>()?;
    module.add_class::<project::comparison::Comparison>()?;
    module.add_class::<project::sources::Sources>()?;
    module.add_function(wrap_pyfunction!(process::audit::listen, module)?)?;
    module.add_function(wrap_pyfunction!(process::audit::listen_no_more, module)?)?;
    module.add_function(wrap_pyfunction!(nest::iteration::boundary, module)?)?;
    module.add_function(wrap_pyfunction!(nest::iteration::look_after, module)?)?;
    module.add("entered", nest::entered::entered(module.py())?)?;
    module.add_function(wrap_pyfunction!(nest::entered::entered_elsewhere, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::begin, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::entered_since, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::enter_block, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::following, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::generator, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::last_passed, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::observed::in_added, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::values::inputs_asked_now, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::values::inputs_missing, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::values::inputs_spent, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::values::inputs_taken, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::observed::observe, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::observed::observe_no_more, module)?)?;
    module.add_function(wrap_pyfunction!(inputs::observed::observed, module)?)?;
    module.add_function(wrap_pyfunction!(process::distributions::distributions, module)?)?;
    module.add_function(wrap_pyfunction!(guard::interrupts::hold_interrupts, module)?)?;
    module.add_function(wrap_pyfunction!(guard::interrupts::interrupted_at, module)?)?;
    module.add_function(wrap_pyfunction!(guard::interrupts::release_interrupts, module)?)?;
    module.add_function(wrap_pyfunction!(guard::interrupts::watch_interrupts, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::leave_block, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::loop_path, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::start_following, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::stop_following, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::forget, module)?)?;
    module.add_function(wrap_pyfunction!(nest::follow::tick, module)?)?;
    module.add_function(wrap_pyfunction!(process::main_script::run_main, module)?)?;
    module.add_function(wrap_pyfunction!(guard::panics::panic_at, module)?)?;
    module.add_function(wrap_pyfunction!(python::housekeeping::free, module)?)?;
    module.add_function(wrap_pyfunction!(python::housekeeping::usage, module)?)?;
    module.add_function(wrap_pyfunction!(python::json::from_json, module)?)?;
    module.add_function(wrap_pyfunction!(python::json::to_json, module)?)?;
    module.add_function(wrap_pyfunction!(python::late::late, module)?)?;
    module.add_function(wrap_pyfunction!(python::record::read_record, module)?)?;
    module.add_function(wrap_pyfunction!(python::recorder::create_store, module)?)?;
    Ok(())
}
