//! When a block is materialized: Equations 1 to 4 of the paper and a limit on everything florc
//! adds.
//!
//! Per block: n executions with a mean of C seconds each, k checkpoints with a mean of M seconds
//! each. M is what the training run loses to one checkpoint, on the main thread and to background
//! work. All times are in seconds.
use std::collections::HashMap;

/// Equation 1, the Record Overhead Invariant: `k M < n ε C`, so that record costs at most ε of the
/// computation.
pub fn record_overhead_holds(n: u64, k: u64, materialize: f64, compute: f64, overhead_tolerance: f64) -> bool {
    k as f64 * materialize < n as f64 * overhead_tolerance * compute
}

/// Equation 2, the Replay Latency Invariant: `M + R < n/k C`, so that record and replay together
/// cost less than executing twice.
pub fn replay_latency_holds(n: u64, k: u64, materialize: f64, restore: f64, compute: f64) -> bool {
    k as f64 * (materialize + restore) < n as f64 * compute
}

/// Equation 3, the same with R = c M: `M/C < n/k · 1/(1+c)`.
pub fn replay_latency_holds_at_ratio(n: u64, k: u64, materialize: f64, compute: f64, restore_ratio: f64) -> bool {
    replay_latency_holds(n, k, materialize, restore_ratio * materialize, compute)
}

/// Equation 4, the Joint Invariant, asked before the (k+1)-th checkpoint: `M/C < n/(k+1) ·
/// min(1/(1+c), ε)`.
pub fn joint_invariant_holds(
    n: u64,
    k: u64,
    materialize: f64,
    compute: f64,
    restore_ratio: f64,
    overhead_tolerance: f64,
) -> bool {
    let limit = overhead_tolerance.min(1.0 / (1.0 + restore_ratio));
    (k + 1) as f64 * materialize < n as f64 * compute * limit
}

/// What was measured of one block.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct BlockTimes {
    /// n: how often the block was computed.
    pub executions: u64,
    /// Sum of C, in seconds.
    pub compute_s: f64,
    /// k: how often it was materialized.
    pub checkpoints: u64,
    /// Sum of M with the background's share, in seconds.
    pub materialize_s: f64,
}

/// Decides for every block of a run. Names a block by anything that can be a key.
#[derive(Debug, Clone)]
pub struct Policy<Block> {
    overhead_tolerance: f64,
    restore_ratio: f64,
    blocks: HashMap<Block, BlockTimes>,
    charged_s: f64,
    once_s: f64,
    compute_s: f64,
    elapsed_s: Option<f64>,
}

impl<Block: Eq + std::hash::Hash> Policy<Block> {
    /// A policy with ε = `overhead_tolerance` (a fraction of the run's time) and c =
    /// `restore_ratio` (seconds to restore per second to materialize). Values that are no times
    /// count as zero.
    pub fn new(overhead_tolerance: f64, restore_ratio: f64) -> Policy<Block> {
        Policy {
            overhead_tolerance: seconds(overhead_tolerance),
            restore_ratio: seconds(restore_ratio),
            blocks: HashMap::new(),
            charged_s: 0.0,
            once_s: 0.0,
            compute_s: 0.0,
            elapsed_s: None,
        }
    }

    /// ε, the fraction of the run's time that florc may add.
    pub fn overhead_tolerance(&self) -> f64 {
        self.overhead_tolerance
    }

    /// c, restore time over materialize time.
    pub fn restore_ratio(&self) -> f64 {
        self.restore_ratio
    }

    /// Refines c from observed restores.
    pub fn set_restore_ratio(&mut self, ratio: f64) {
        self.restore_ratio = seconds(ratio);
    }

    /// The block was computed in so many seconds: n += 1.
    pub fn observe_compute(&mut self, block: Block, compute_s: f64) {
        let times = self.blocks.entry(block).or_default();
        times.executions += 1;
        times.compute_s += seconds(compute_s);
        self.compute_s += seconds(compute_s);
    }

    /// A checkpoint of the block cost the run so many seconds: k += 1.
    pub fn observe_materialize(&mut self, block: Block, materialize_s: f64) {
        let times = self.blocks.entry(block).or_default();
        times.checkpoints += 1;
        times.materialize_s += seconds(materialize_s);
        self.charged_s += seconds(materialize_s);
    }

    /// Background work for the block's checkpoints took so many seconds from the run; they belong
    /// to M.
    pub fn add_background(&mut self, block: Block, background_s: f64) {
        self.blocks.entry(block).or_default().materialize_s += seconds(background_s);
        self.charged_s += seconds(background_s);
    }

    /// Florc cost the run so many seconds that belong to no block: start, instrumentation, logs.
    pub fn charge(&mut self, florc_s: f64) {
        self.charged_s += seconds(florc_s);
    }

    /// Florc cost the run so many seconds for what it does once in a run. They are gone, whatever follows: they are paid for out of
    /// no more than half of what florc may take, over as much of the run as that takes, and do not hold back the first checkpoints.
    pub fn charge_once(&mut self, florc_s: f64) {
        self.once_s += seconds(florc_s);
    }

    /// The run went on for so many more seconds of wall time. Until the first call the computation
    /// of the blocks stands for it.
    pub fn elapsed(&mut self, wall_s: f64) {
        *self.elapsed_s.get_or_insert(0.0) += seconds(wall_s);
    }

    /// Everything that florc has cost the run, in seconds.
    pub fn charged(&self) -> f64 {
        self.charged_s + self.once_s
    }

    /// What was measured of a block.
    pub fn times(&self, block: &Block) -> BlockTimes {
        self.blocks.get(block).copied().unwrap_or_default()
    }

    /// Whether the block may be materialized now, after [`Policy::observe_compute`].
    ///
    /// The next checkpoint is taken to cost `predicted_materialize_s`, else the mean of those
    /// observed, and M is the mean with it, so that the invariant covers the checkpoint that is
    /// being decided. With neither, the block is materialized once to learn M. An infinite ε admits every checkpoint, also
    /// those that Equation 3 would refuse.
    pub fn admits(&self, block: &Block, predicted_materialize_s: Option<f64>) -> bool {
        let times = self.times(block);
        if times.executions == 0 {
            return false;
        }
        if self.overhead_tolerance.is_infinite() {
            return true;
        }
        let mean = (times.checkpoints > 0).then(|| times.materialize_s / times.checkpoints as f64);
        let next = predicted_materialize_s.map(seconds).or(mean).unwrap_or(0.0);
        let materialize = (times.materialize_s + next) / (times.checkpoints + 1) as f64;
        let compute = times.compute_s / times.executions as f64;
        let (n, k) = (times.executions, times.checkpoints);
        joint_invariant_holds(n, k, materialize, compute, self.restore_ratio, self.overhead_tolerance)
            && self.run_affords(next)
    }

    /// Whether the block may be materialized after another execution that takes as long as those before; None where there were none.
    pub fn foresees(&self, block: &Block, predicted_materialize_s: Option<f64>) -> Option<bool>
    where
        Block: Clone,
    {
        let times = self.times(block);
        if times.executions == 0 {
            return None;
        }
        let mean = times.compute_s / times.executions as f64;
        let mut then = self.clone();
        if then.elapsed_s.is_some() {
            then.elapsed(mean);
        }
        then.observe_compute(block.clone(), mean);
        Some(then.admits(block, predicted_materialize_s))
    }

    /// The limit over all blocks and everything else that florc does.
    fn run_affords(&self, next_s: f64) -> bool {
        let wall = self.elapsed_s.unwrap_or(self.compute_s);
        let allowed = self.overhead_tolerance * wall;
        self.charged_s + self.once_s.min(allowed / 2.0) + next_s <= allowed
    }
}

/// A clock that steps back, or a division by zero, must not open the gate.
fn seconds(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.max(0.0) }
}

#[cfg(test)]
mod tests;
