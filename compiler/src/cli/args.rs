//! The commands, and the arguments of those that record, verify and compile.

use super::answers::{DiffArgs, LogsArgs, PlotArgs, QueryArgs, ShowArgs, UiArgs};
use super::colors::Colored;
use super::completion::{CompletionArgs, runs, script_and_words};
use super::replay::{AskArgs, ReplayArgs};
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
    /// Ask for values without editing: a log statement for each question, in a copy that only the replay sees
    Ask(AskArgs),
    /// Run sampled iterations of a recorded run again, unchanged, and compare
    Verify(VerifyArgs),
    /// List the recorded runs
    Runs(RunsArgs),
    /// Show one run: how it ended, its loops and checkpoints, what was asked of it since; runs nothing
    Show(ShowArgs),
    /// Show what runs printed, and what was asked of them since, as values with names; runs nothing
    Logs(LogsArgs),
    /// Draw values as curves, in the terminal or in a file; runs nothing
    Plot(PlotArgs),
    /// Ask recorded runs in SQL; runs nothing
    Query(QueryArgs),
    /// Show where two runs part: source, arguments, environment, values, states; runs nothing
    Diff(DiffArgs),
    /// Open a page of the recorded runs in the browser, from this machine alone: curves, source, questions
    Ui(UiArgs),
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
    /// Print what makes a shell complete commands, runs, loops and names: source <(florc completion bash)
    Completion(CompletionArgs),
}

impl Command {
    /// The command as typed.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Record(_) => "record",
            Command::Replay(_) => "replay",
            Command::Ask(_) => "ask",
            Command::Verify(_) => "verify",
            Command::Runs(_) => "runs",
            Command::Show(_) => "show",
            Command::Logs(_) => "logs",
            Command::Plot(_) => "plot",
            Command::Query(_) => "query",
            Command::Diff(_) => "diff",
            Command::Ui(_) => "ui",
            Command::Check(_) => "check",
            Command::Rm(_) => "rm",
            Command::Gc(_) => "gc",
            Command::Plan(_) => "plan",
            Command::Instrument(_) => "instrument",
            Command::Probes(_) => "probes",
            Command::Completion(_) => "completion",
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
    #[arg(value_name = "SCRIPT [ARGS]", trailing_var_arg = true, allow_hyphen_values = true, add = script_and_words())]
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

/// Arguments of `florc verify`.
#[derive(Debug, Args, Serialize)]
pub struct VerifyArgs {
    /// The run, or its script: an id, a name, `latest`, `latest~1`, train.py (default: the newest run)
    #[arg(value_name = "RUN", add = runs())]
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
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
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
