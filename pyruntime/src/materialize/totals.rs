//! What a recorder did, for the report at the end.

/// Sums over the life of a recorder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// Checkpoints that are durable.
    pub checkpoints: u64,
    /// Bytes copied into staging memory.
    pub bytes_staged: u64,
    /// Bytes of packs written.
    pub bytes_written: u64,
    /// Processor time of the background, in seconds.
    pub cpu_s: f64,
    /// Records handed to `log`.
    pub logs: u64,
    /// Records that are in no journal, because the writer failed or could not keep up.
    pub logs_lost: u64,
    /// What went wrong, in the order of time.
    pub errors: Vec<String>,
    /// Whether everything staged was dealt with before `close` returned.
    pub drained: bool,
}
