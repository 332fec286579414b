//! `florc._native.Policy`.
use std::sync::{Mutex, MutexGuard};

use pyo3::prelude::*;

use crate::locks::lock;
use crate::policy::Policy;

/// What names a block: a number or a text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, FromPyObject)]
enum Block {
    Number(i64),
    Name(String),
}

/// When a block is materialized: the paper's Joint Invariant per block, and a limit on all that
/// florc adds. Times are in seconds, a block is named by an int or a str.
#[pyclass(name = "Policy", module = "florc._native", frozen)]
pub struct PyPolicy(Mutex<Policy<Block>>);

#[pymethods]
impl PyPolicy {
    /// `overhead_tolerance` (ε) is the fraction of the run's time that florc may add,
    /// `restore_ratio` (c) the time to restore over the time to materialize.
    #[new]
    #[pyo3(signature = (overhead_tolerance=1.0 / 15.0, restore_ratio=1.0))]
    fn new(overhead_tolerance: f64, restore_ratio: f64) -> PyPolicy {
        PyPolicy(Mutex::new(Policy::new(overhead_tolerance, restore_ratio)))
    }

    /// The block was computed in so many seconds.
    fn observe_compute(&self, block: Block, seconds: f64) {
        self.lock().observe_compute(block, seconds);
    }

    /// Whether the block may be materialized now, after `observe_compute`. Without a prediction the
    /// mean of what was observed counts; without either, it is tried once.
    #[pyo3(signature = (block, predicted_materialize_seconds=None))]
    fn admits(&self, block: Block, predicted_materialize_seconds: Option<f64>) -> bool {
        self.lock().admits(&block, predicted_materialize_seconds)
    }

    /// Whether it may be materialized after another execution like those before; None where there were none.
    #[pyo3(signature = (block, predicted_materialize_seconds=None))]
    fn foresees(&self, block: Block, predicted_materialize_seconds: Option<f64>) -> Option<bool> {
        self.lock().foresees(&block, predicted_materialize_seconds)
    }

    /// A checkpoint of the block cost the run so many seconds.
    fn observe_materialize(&self, block: Block, seconds: f64) {
        self.lock().observe_materialize(block, seconds);
    }

    /// Background work for the block's checkpoints took so many seconds from the run.
    fn add_background(&self, block: Block, seconds: f64) {
        self.lock().add_background(block, seconds);
    }

    /// Florc cost the run so many seconds that belong to no block.
    fn charge(&self, seconds: f64) {
        self.lock().charge(seconds);
    }

    /// Florc cost the run so many seconds for what it does once: paid for over time.
    fn charge_once(&self, seconds: f64) {
        self.lock().charge_once(seconds);
    }

    /// The run went on for so many more seconds of wall time.
    fn elapsed(&self, seconds: f64) {
        self.lock().elapsed(seconds);
    }

    /// Everything charged so far, in seconds.
    #[getter]
    fn charged(&self) -> f64 {
        self.lock().charged()
    }

    /// ε.
    #[getter]
    fn overhead_tolerance(&self) -> f64 {
        self.lock().overhead_tolerance()
    }

    /// c; set it as restores are observed.
    #[getter]
    fn restore_ratio(&self) -> f64 {
        self.lock().restore_ratio()
    }

    #[setter]
    fn set_restore_ratio(&self, ratio: f64) {
        self.lock().set_restore_ratio(ratio);
    }

    /// What was measured of a block: executions, seconds computed, checkpoints, seconds
    /// materialized.
    fn times(&self, block: Block) -> (u64, f64, u64, f64) {
        let times = self.lock().times(&block);
        (times.executions, times.compute_s, times.checkpoints, times.materialize_s)
    }
}

impl PyPolicy {
    fn lock(&self) -> MutexGuard<'_, Policy<Block>> {
        lock(&self.0)
    }
}
