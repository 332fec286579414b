//! Arguments of the commands about the store of runs.

use super::colors::Colored;
use super::completion::{columns, runs, scripts};
use clap::Args;
use serde::Serialize;

/// Arguments of `florc runs`.
#[derive(Debug, Args, Serialize)]
pub struct RunsArgs {
    /// Only runs of this script
    #[arg(value_name = "SCRIPT", add = scripts())]
    pub script: Option<String>,
    /// What is shown of each run: id, name, script, arguments, status, started, seconds, overhead, checkpoints, bytes, ranks, asked,
    /// commit, or the name of a value: its last one and how it went
    #[arg(long, value_name = "COLUMN,…", value_delimiter = ',', add = columns())]
    pub columns: Vec<String>,
    /// The order: by this column, the largest last (default: started)
    #[arg(long, value_name = "COLUMN", add = columns())]
    pub sort: Option<String>,
    /// Only the newest N
    #[arg(long, value_name = "N")]
    pub last: Option<usize>,
    /// What each run takes on disk, and how much of it only that run needs
    #[arg(long, conflicts_with_all = ["columns", "sort"])]
    pub disk: bool,
    /// One JSON object per run
    #[arg(long)]
    pub json: bool,
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
}

/// Arguments of `florc check`.
#[derive(Debug, Args, Serialize)]
pub struct CheckArgs {
    /// The run, or its script: an id, a name, `latest`, `latest~1`, train.py (default: every run)
    #[arg(value_name = "RUN", add = runs())]
    pub run: Option<String>,
    /// Read every byte of the checkpoints, too
    #[arg(long)]
    pub read_data: bool,
    /// One JSON object per run
    #[arg(long)]
    pub json: bool,
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
}

/// Arguments of `florc rm`.
#[derive(Debug, Args, Serialize)]
pub struct RmArgs {
    /// The runs: ids from `florc runs` (their beginnings will do), names, `latest`, `latest~1`
    #[arg(value_name = "RUN", required = true, num_args = 1.., add = runs())]
    pub runs: Vec<String>,
}

/// Arguments of `florc gc`.
#[derive(Debug, Args, Serialize)]
pub struct GcArgs {
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}
