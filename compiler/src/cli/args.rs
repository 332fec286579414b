//! Every argument of every command, in one place.

use super::answers::{Format, LogsArgs, QueryArgs};
use super::store::{CheckArgs, GcArgs, RmArgs, RunsArgs};
use crate::plan::EffectsMode;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Where runs are kept.
const STORE: &str = "\
Environment:
  FLORC_DIR  The folder that recorded runs are kept in and looked for (default: .florc in the current folder)";

/// Ask a question of a training run after it has ended.
///
/// Record a run, add a log statement to the script, replay: the value comes back as if it had been logged at the time.
#[derive(Debug, Parser)]
#[command(name = "florc", version, disable_help_subcommand = true, arg_required_else_help = true, after_help = STORE)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand, Serialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum Command {
    /// Run a script and keep what is needed to ask questions later
    #[command(after_help = STORE)]
    Record(RecordArgs),
    /// Answer the log statements added since a run was recorded
    Replay(ReplayArgs),
    /// Run sampled iterations of a recorded run again, unchanged, and compare
    Verify(VerifyArgs),
    /// List the recorded runs
    Runs(RunsArgs),
    /// Show what runs printed, and what was asked of them since, as values with names; runs nothing
    Logs(LogsArgs),
    /// Ask recorded runs in SQL; runs nothing
    Query(QueryArgs),
    /// Say what is damaged in the recorded runs, and what can still be answered; runs none of them
    Check(CheckArgs),
    /// Remove runs
    Rm(RmArgs),
    /// Free the disk space of checkpoints that no run refers to
    Gc(GcArgs),
    /// Show what florc would do to each loop of a script, and why
    Plan(PlanArgs),
    /// Print a script as florc instruments it
    Instrument(InstrumentArgs),
    /// Show which statements a newer version of a script adds, and which loops they probe
    Probes(ProbesArgs),
}

impl Command {
    /// The command as typed.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Record(_) => "record",
            Command::Replay(_) => "replay",
            Command::Verify(_) => "verify",
            Command::Runs(_) => "runs",
            Command::Logs(_) => "logs",
            Command::Query(_) => "query",
            Command::Check(_) => "check",
            Command::Rm(_) => "rm",
            Command::Gc(_) => "gc",
            Command::Plan(_) => "plan",
            Command::Instrument(_) => "instrument",
            Command::Probes(_) => "probes",
        }
    }
}

/// Arguments of `florc record`.
#[derive(Debug, Args, Serialize)]
pub struct RecordArgs {
    /// Run a module, as `python -m` does; the arguments after it are the module's own
    #[arg(short = 'm', long = "module", value_name = "MODULE", num_args = 1)]
    pub module: Option<String>,
    /// A name for the run, to find it by
    #[arg(long, value_name = "NAME", value_parser = run_name)]
    pub name: Option<String>,
    /// Largest share of the run's time that florc may take (ε)
    #[arg(long, value_name = "SHARE", default_value_t = 1.0 / 15.0, hide_default_value = true)]
    pub overhead: f64,
    /// Which checkpoints are kept
    #[arg(long, value_enum, default_value_t = Checkpoint::Auto)]
    pub checkpoint: Checkpoint,
    /// How checkpoints are made
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// Most memory for checkpoints on their way to disk, in MiB (default: a quarter of what is free; three quarters for one that is
    /// alone). A larger checkpoint is handed over in pieces, and the script waits for the disk
    #[arg(long, value_name = "MIB")]
    pub max_staging: Option<u64>,
    /// Most disk space for the checkpoints of this run, such as 2G: as it fills, every other one is dropped
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_disk: Option<u64>,
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
    /// The script and its own arguments
    #[arg(value_name = "SCRIPT [ARGS]", trailing_var_arg = true, allow_hyphen_values = true)]
    pub script: Vec<String>,
}

/// A name that can be part of a file name, and that no other way to name a run or a script looks like.
fn run_name(text: &str) -> Result<String, String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) || !text.chars().all(allowed) {
        Err("a name has letters (a to z), digits, '.', '_' and '-', and begins with a letter or digit".to_string())
    } else if text.len() > 100 {
        Err("a name has at most 100 characters".to_string())
    } else if text == "latest" {
        Err("`latest` names the newest run".to_string())
    } else if text.ends_with(".py") || text.ends_with(".ipynb") {
        Err("a name that ends in .py or .ipynb would be taken for a script".to_string())
    } else {
        Ok(text.to_string())
    }
}

/// A replay takes the module from the record.
fn no_module(text: &str) -> Result<String, String> {
    Err(format!("replay names a run by its script: florc replay {}.py", text.replace('.', "/")))
}

/// Bytes: a number, alone or with k, M, G or T (powers of 1024).
fn size(text: &str) -> Result<u64, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match text[number.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err("a size is a number of bytes, or one with k, M, G or T: 500M, 2G, 1.5T".to_string()),
    };
    match number.parse::<f64>() {
        Ok(value) if value > 0.0 && value < (1u64 << 50) as f64 => Ok((value * (1u64 << shift) as f64) as u64),
        _ => Err("a size is more than nothing: 500M, 2G, 1.5T".to_string()),
    }
}

/// `2/4`.
fn shard(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(part, count)| Some((part.parse().ok()?, count.parse().ok()?)));
    match parts {
        Some((part, count)) if (1..=count).contains(&part) => Ok((part, count)),
        _ => Err("a shard is written I/N, with I from 1 to N: 2/4".to_string()),
    }
}

/// How checkpoints are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// A separate process writes; a forked child encodes state that is slow to encode, where that costs less
    Auto,
    /// Like auto, but a forked child encodes whatever it can
    Fork,
    /// A separate process writes; the script's own thread encodes
    Writer,
}

/// Which checkpoints are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Checkpoint {
    /// Those that --overhead allows
    Auto,
    /// Each that can be made, whatever it costs: of every loop, every time, and at the start of every iteration of loops that train
    Every,
}

/// Arguments of `florc replay`.
#[derive(Debug, Args, Serialize)]
pub struct ReplayArgs {
    // the brackets are for people who read the help
    #[allow(rustdoc::broken_intra_doc_links)]
    /// [RUN] SCRIPT: the edited script, and the run to replay (default: its newest; or an id, a name, `latest`, `latest~1`)
    #[arg(value_name = "[RUN] SCRIPT", required = true, num_args = 1..=2)]
    pub target: Vec<String>,
    /// Refused, with what to type instead
    #[arg(short = 'm', long = "module", hide = true, value_parser = no_module)]
    #[serde(skip)]
    pub module: Option<String>,
    /// Say what would be skipped, restored and run again, and why; run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Replay although code inside a block whose checkpoint would be loaded has changed
    #[arg(long)]
    pub allow_drift: bool,
    /// Exit with 1, too, when the answer is unverified
    #[arg(long)]
    pub strict: bool,
    /// Run this loop again instead of restoring its checkpoints (may be repeated; `all` for every loop)
    #[arg(long, value_name = "LOOP")]
    pub step_into: Vec<String>,
    /// Only these iterations of the main loop, or of named loops: 10:20, 7, -1, epoch=10:20, fold=2,epoch=10:20
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, conflicts_with_all = ["last", "around", "shard", "workers"])]
    pub iterations: Option<String>,
    /// Only these training steps, counted from 0 through the whole run: 5800:5900, 5800, -1
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, conflicts_with_all = ["iterations", "around", "last", "shard", "workers"])]
    pub steps: Option<String>,
    /// Only the iterations around one: epoch=12
    #[arg(long, value_name = "ITERATION", conflicts_with_all = ["last", "shard", "workers"])]
    pub around: Option<String>,
    /// How many iterations on each side of --around
    #[arg(long, value_name = "N", default_value_t = 1, requires = "around")]
    pub window: u64,
    /// Only the last iteration of the main loop
    #[arg(long, conflicts_with_all = ["shard", "workers"])]
    pub last: bool,
    /// Replay with so many processes on this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    pub workers: Option<u64>,
    /// Start the workers on a Ray cluster: auto, HOST:PORT, ray://HOST:PORT (needs the package ray)
    #[arg(long, value_name = "ADDRESS", requires = "workers", conflicts_with_all = ["dry_run", "emit"])]
    pub ray: Option<String>,
    /// Replay the I-th of N parts (1/4 … 4/4): the outputs of all, one after another, are the whole
    #[arg(long, value_name = "I/N", value_parser = shard, conflicts_with = "workers")]
    pub shard: Option<(u64, u64)>,
    /// Print a job script whose N tasks replay one part each, and run nothing
    #[arg(long, value_enum, value_name = "SCHEDULER", requires = "workers", conflicts_with = "dry_run")]
    pub emit: Option<Scheduler>,
    /// Print only what this rank answers, of a run that a launcher started as several
    #[arg(long, value_name = "N", conflicts_with_all = ["workers", "shard", "emit", "interactive", "ray"])]
    pub rank: Option<u64>,
    /// Import what the script imports once, then ask: each line, of options or empty, is a replay of the script as it is then
    #[arg(long, conflicts_with_all = ["emit", "dry_run"])]
    pub interactive: bool,
    /// Use a run that was not recorded by you: its checkpoints are restored into your script, which can run code in them
    #[arg(long)]
    pub trust: bool,
    /// One JSON object per value on standard output, and one for the report
    #[arg(long)]
    pub json: bool,
    /// Values by the names of what was printed, instead of lines
    #[arg(long, value_enum, conflicts_with_all = ["json", "dry_run", "emit", "interactive"])]
    pub format: Option<Format>,
    /// With --format: write the values to this file. Of a notebook, without it: a copy with the answers in its cells
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["json", "dry_run", "emit", "interactive"])]
    pub output: Option<String>,
    /// Print nothing on standard error but errors and anomalies
    #[arg(short, long)]
    pub quiet: bool,
}

/// What runs the tasks of a job script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// A job array for `sbatch`
    Slurm,
}

/// Arguments of `florc verify`.
#[derive(Debug, Args, Serialize)]
pub struct VerifyArgs {
    /// The run, or its script: an id, a name, `latest`, `latest~1`, train.py (default: the newest run)
    #[arg(value_name = "RUN")]
    pub run: Option<String>,
    /// How many iterations of the main loop run again: the first, the last, and some evenly between
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub samples: u64,
    /// Use a run that was not recorded by you: the script that it holds runs
    #[arg(long)]
    pub trust: bool,
    /// One JSON object on standard output
    #[arg(long)]
    pub json: bool,
    /// Print nothing on standard error but errors and what differs
    #[arg(short, long)]
    pub quiet: bool,
}

/// Which side-effect analysis decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum EffectsArg {
    /// The six rules of the paper's Table 2
    Table2,
    /// Data flow, call summaries and library knowledge
    #[default]
    Flow,
}

impl From<EffectsArg> for EffectsMode {
    fn from(arg: EffectsArg) -> Self {
        match arg {
            EffectsArg::Table2 => EffectsMode::Table2,
            EffectsArg::Flow => EffectsMode::Flow,
        }
    }
}

/// Arguments of `florc plan`.
#[derive(Debug, Args, Serialize)]
pub struct PlanArgs {
    /// The script; `-` for standard input
    #[arg(required_unless_present = "module")]
    pub script: Option<PathBuf>,
    /// The script is a module, as `python -m` finds it in the current folder
    #[arg(short = 'm', long, value_name = "MODULE", conflicts_with = "script")]
    pub module: Option<String>,
    /// Tell the whole story of one loop
    #[arg(long, value_name = "LOOP")]
    pub explain: Option<String>,
    /// Print the control-flow graph of each scope that holds a loop, for Graphviz
    #[arg(long, conflicts_with_all = ["explain", "json"])]
    pub dot: bool,
    /// Which side-effect analysis decides
    #[arg(long, value_enum, default_value_t)]
    pub effects: EffectsArg,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

impl PlanArgs {
    /// The file, and the folder where its imports are looked for first.
    pub fn file(&self) -> (PathBuf, PathBuf) {
        let script = self.script.clone().unwrap_or_default();
        let Some(module) = &self.module else {
            let beside = script.parent().map_or_else(PathBuf::new, Path::to_owned);
            return (script, beside);
        };
        let path = PathBuf::from(module.replace('.', "/"));
        let script = if path.is_dir() { path.join("__main__.py") } else { path.with_extension("py") };
        (script, PathBuf::new())
    }
}

/// Arguments of `florc instrument`.
#[derive(Debug, Args, Serialize)]
pub struct InstrumentArgs {
    /// The script; `-` for standard input
    pub script: PathBuf,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print a unified diff instead of the whole text
    #[arg(long)]
    pub diff: bool,
    /// Print nothing; exit with 1 if the script would change
    #[arg(long)]
    pub check: bool,
    /// Which side-effect analysis decides
    #[arg(long, value_enum, default_value_t)]
    pub effects: EffectsArg,
    /// Print JSON: the text, the insertions, the plan
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `florc probes`.
#[derive(Debug, Args, Serialize)]
pub struct ProbesArgs {
    /// The script as it was
    pub old: PathBuf,
    /// The script as it is
    pub new: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
