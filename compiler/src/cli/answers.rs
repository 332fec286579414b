//! Arguments of the commands that show values.

use super::colors::Colored;
use super::completion::{names, runs, values, variables};
use clap::{Args, ValueEnum};
use serde::Serialize;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Columns, for people
    Table,
    /// Comma-separated values with a head
    Csv,
    /// One JSON object per line
    Jsonl,
    /// A file of Apache Parquet (with -o; pyarrow, polars or DuckDB writes it)
    Parquet,
    /// Nothing: `florc logs` has them then
    None,
}

/// How values are written, and where to.
#[derive(Debug, Args, Serialize)]
pub struct Shown {
    /// How the values are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// As `--format jsonl`
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
}

/// Arguments of `florc show`.
#[derive(Debug, Args, Serialize)]
pub struct ShowArgs {
    /// The run, or its script: an id, a name, `latest`, `latest~1`, train.py (default: the newest run)
    #[arg(value_name = "RUN", add = runs())]
    pub run: Option<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// The script as it was recorded, and nothing else
    #[arg(long, conflicts_with = "json")]
    pub source: bool,
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
}

/// Arguments of `florc logs`.
#[derive(Debug, Args, Serialize)]
pub struct LogsArgs {
    /// The run, or its script (an id, a name, `latest`, `latest~1`, train.py; default: the newest run), and names of values (default:
    /// all)
    #[arg(value_name = "[RUN] NAME", num_args = 0.., add = names())]
    pub words: Vec<String>,
    /// Only values for which this holds, in the language of SQLite: 'epoch > 3 and name = "loss"'
    #[arg(long = "where", value_name = "EXPRESSION")]
    pub condition: Option<String>,
    /// A line for each iteration, and a column for each name
    #[arg(long)]
    pub pivot: bool,
    /// How, and where to.
    #[command(flatten)]
    #[serde(flatten)]
    pub shown: Shown,
}

/// Arguments of `florc plot`.
#[derive(Debug, Args, Serialize)]
pub struct PlotArgs {
    /// Runs, or their scripts (default: the newest run; several are drawn over each other), and names of values
    #[arg(value_name = "[RUN] NAME", required = true, num_args = 1.., add = names())]
    pub words: Vec<String>,
    /// The variable of a loop for the x axis (default: that which all values have; else their order)
    #[arg(long, value_name = "VARIABLE", add = variables())]
    pub x: Option<String>,
    /// Only values for which this holds, in the language of SQLite
    #[arg(long = "where", value_name = "EXPRESSION")]
    pub condition: Option<String>,
    /// Draw into a file (.svg, .png, .pdf, .html) instead of the terminal
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<String>,
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
}

/// Arguments of `florc query`.
#[derive(Debug, Args, Serialize)]
pub struct QueryArgs {
    /// A SELECT over the views runs, loops, iterations, checkpoints, lines, entries: entries has a row for each value
    #[arg(value_name = "SQL")]
    pub sql: String,
    /// How, and where to.
    #[command(flatten)]
    #[serde(flatten)]
    pub shown: Shown,
}

/// Arguments of `florc diff`.
#[derive(Debug, Args, Serialize)]
pub struct DiffArgs {
    /// Two runs: ids, names, `latest`, `latest~1` (default: the newest run, and the one before it of the same script). Of one run: it
    /// and the newest
    #[arg(value_name = "RUN", num_args = 0..=2, add = runs())]
    pub runs: Vec<String>,
    /// Only these values (default: all that both runs have)
    #[arg(long = "value", value_name = "NAME", add = values())]
    pub names: Vec<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// When.
    #[command(flatten)]
    #[serde(flatten)]
    pub colored: Colored,
}

/// Arguments of `florc ui`.
#[derive(Debug, Args, Serialize)]
pub struct UiArgs {
    /// The run to begin with, or its script: an id, a name, `latest`, `latest~1`, train.py (default: the newest run)
    #[arg(value_name = "RUN", add = runs())]
    pub run: Option<String>,
    /// The port on 127.0.0.1 (default: any that is free)
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Print the address, and open no browser
    #[arg(long = "no-open", action = clap::ArgAction::SetFalse)]
    pub open: bool,
}
