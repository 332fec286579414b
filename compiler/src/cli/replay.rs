//! Arguments of the commands that replay a run.

use super::answers::Format;
use super::colors::Colored;
use super::completion::{iterations, lines, loops, runs_and_scripts, variables};
use clap::{ArgAction, Args, ValueEnum};
use serde::Serialize;

/// Arguments of `florc replay`.
#[derive(Debug, Args, Serialize)]
pub struct ReplayArgs {
    // the brackets are for people who read the help
    #[allow(rustdoc::broken_intra_doc_links)]
    /// [RUN] SCRIPT: the edited script, and the run to replay (default: its newest; or an id, a name, `latest`, `latest~1`)
    #[arg(value_name = "[RUN] SCRIPT", required = true, num_args = 1..=2, add = runs_and_scripts())]
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
    #[arg(long, value_name = "LOOP", add = loops())]
    pub step_into: Vec<String>,
    /// Only these iterations of the main loop, or of named loops: 10:20, 7, -1, epoch=10:20, fold=2,epoch=10:20
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, conflicts_with_all = ["last", "around", "shard", "workers"])]
    pub iterations: Option<String>,
    /// Only these training steps, counted from 0 through the whole run: 5800:5900, 5800, -1
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true, conflicts_with_all = ["iterations", "around", "last", "shard", "workers"])]
    pub steps: Option<String>,
    /// Only the iterations around one: epoch=12
    #[arg(long, value_name = "ITERATION", add = iterations(), conflicts_with_all = ["last", "shard", "workers"])]
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
    /// Send the values that added statements print to a tracker, by their names: tb, wandb, mlflow, trackio or csv. The run there is
    /// the recorded one; or name it: tb=FOLDER, csv=FILE, mlflow=RUN, wandb=PROJECT/RUN, trackio=PROJECT/RUN
    #[arg(long, value_name = "TRACKER[=WHERE]", value_parser = tracker, conflicts_with_all = ["dry_run", "emit"])]
    pub to: Option<(String, Option<String>)>,
    /// Print nothing on standard error but errors and anomalies
    #[arg(short, long)]
    pub quiet: bool,
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
}

/// What runs the tasks of a job script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// A job array for `sbatch`
    Slurm,
}

/// Arguments of `florc ask`.
#[derive(Debug, Args, Serialize)]
pub struct AskArgs {
    /// As soon as this line has run (of a loop, an `if`, a `with`: before it), the value of an expression: --at 47 'norm.item()',
    /// --at engine.py:120 loss
    #[arg(long, num_args = 2, value_names = ["[FILE:]LINE", "EXPRESSION"], action = ArgAction::Append, add = lines())]
    pub at: Vec<String>,
    /// As the body of the loop, `if` or function in this line begins: --inside 12 loss
    #[arg(long, num_args = 2, value_names = ["[FILE:]LINE", "EXPRESSION"], action = ArgAction::Append, add = lines())]
    pub inside: Vec<String>,
    /// Behind the `for` loop over a variable: --after-loop epoch 'max(losses)'
    #[arg(long, num_args = 2, value_names = ["VARIABLE", "EXPRESSION"], action = ArgAction::Append, add = variables())]
    pub after_loop: Vec<String>,
    /// Behind each step of an optimizer: --watch 'model.fc.weight.grad.norm()'
    #[arg(long, value_name = "EXPRESSION", action = ArgAction::Append)]
    pub watch: Vec<String>,
    /// What a replay is told.
    #[command(flatten)]
    #[serde(flatten)]
    pub replay: ReplayArgs,
}

/// A replay takes the module from the record.
fn no_module(text: &str) -> Result<String, String> {
    Err(format!("replay names a run by its script: florc replay {}.py", text.replace('.', "/")))
}

/// What `--to` takes.
const TRACKERS: [&str; 5] = ["tb", "wandb", "mlflow", "trackio", "csv"];

/// `tb`, `tb=runs/a`.
fn tracker(text: &str) -> Result<(String, Option<String>), String> {
    let (name, place) = text.split_once('=').map_or((text, None), |(name, place)| (name, Some(place)));
    if !TRACKERS.contains(&name) {
        return Err(format!("there is no such tracker; florc sends to {}", TRACKERS.join(", ")));
    }
    match place {
        Some("") => Err(format!("nothing is named: write --to {name}, or what it is to go to behind the =")),
        _ => Ok((name.to_string(), place.map(str::to_string))),
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
