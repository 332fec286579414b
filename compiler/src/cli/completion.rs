//! What may stand for an argument, to be completed in a shell.
//!
//! What there is besides commands and options is in the store of runs, which only the Python half reads: it answers through
//! [`offer`].

use clap::{Args, ValueEnum};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use serde::Serialize;
use std::ffi::OsStr;
use std::sync::OnceLock;

/// What can be completed from the store of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ids and names of runs.
    Runs,
    /// Names of values, and runs before them.
    Names,
    /// Names of values.
    Values,
    /// Loops, as `florc plan` names them.
    Loops,
    /// Variables of loops.
    Variables,
    /// `epoch=12`.
    Iterations,
    /// Columns of `florc runs`.
    Columns,
    /// Lines of the script.
    Lines,
    /// Names that a question may use.
    Expressions,
}

impl Kind {
    /// The kind as the Python half calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Runs => "runs",
            Kind::Names => "names",
            Kind::Values => "values",
            Kind::Loops => "loops",
            Kind::Variables => "variables",
            Kind::Iterations => "iterations",
            Kind::Columns => "columns",
            Kind::Lines => "lines",
            Kind::Expressions => "expressions",
        }
    }
}

/// Of a kind, and the words of the command line so far: what may stand there, each with its explanation.
pub type Offer = fn(Kind, &[String]) -> Vec<(String, String)>;

static OFFER: OnceLock<Offer> = OnceLock::new();
static WORDS: OnceLock<Vec<String>> = OnceLock::new();

/// From now on ask this for candidates; without it, only commands, options and files are completed.
pub fn offer(candidates: Offer) {
    let _ = OFFER.set(candidates);
}

/// A shell that completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// source <(florc completion bash)
    Bash,
    /// florc completion fish | source
    Fish,
    /// source <(florc completion zsh)
    Zsh,
}

/// Arguments of `florc completion`.
#[derive(Debug, Args, Serialize)]
pub struct CompletionArgs {
    /// The shell, in whose start-up file the line stands
    #[arg(value_enum)]
    pub shell: Shell,
}

/// The words of the command line that is completed.
pub fn begin(words: Vec<String>) {
    let _ = WORDS.set(words);
}

/// Completes the values of an argument: one kind for each place, and files where they may stand there, too.
struct Known {
    kinds: &'static [Kind],
    has_scripts: bool,
}

impl ValueCompleter for Known {
    fn complete(&self, current: &OsStr) -> Vec<CompletionCandidate> {
        self.complete_at(0, current)
    }

    fn complete_at(&self, index: usize, current: &OsStr) -> Vec<CompletionCandidate> {
        let mut found = if self.has_scripts { files(current) } else { Vec::new() };
        let kind = self.kinds.get(index).or(self.kinds.last());
        let (Some(&kind), Some(offer), Some(words), Some(current)) = (kind, OFFER.get(), WORDS.get(), current.to_str())
        else {
            return found;
        };
        let fitting = offer(kind, words).into_iter().filter(|(value, _)| value.starts_with(current));
        found.extend(
            fitting.map(|(value, help)| CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))),
        );
        found
    }
}

fn files(current: &OsStr) -> Vec<CompletionCandidate> {
    PathCompleter::any()
        .filter(|path| path.is_dir() || path.extension().is_some_and(|form| form == "py" || form == "ipynb"))
        .complete(current)
        .into_iter()
        .filter(|candidate| candidate.get_value() != ".")
        .collect()
}

fn of(kinds: &'static [Kind]) -> ArgValueCompleter {
    ArgValueCompleter::new(Known { kinds, has_scripts: false })
}

/// Runs: ids and names.
pub fn runs() -> ArgValueCompleter {
    of(&[Kind::Runs])
}

/// Files that can be recorded.
pub fn scripts() -> ArgValueCompleter {
    ArgValueCompleter::new(files)
}

/// A script, and whatever it takes.
pub fn script_and_words() -> ArgValueCompleter {
    ArgValueCompleter::new(PathCompleter::any())
}

/// Runs, and files that were recorded.
pub fn runs_and_scripts() -> ArgValueCompleter {
    ArgValueCompleter::new(Known { kinds: &[Kind::Runs], has_scripts: true })
}

/// Names of values; runs and scripts stand before them.
pub fn names() -> ArgValueCompleter {
    ArgValueCompleter::new(Known { kinds: &[Kind::Names], has_scripts: true })
}

/// Names of values, without what stands before them elsewhere.
pub fn values() -> ArgValueCompleter {
    of(&[Kind::Values])
}

/// Loops.
pub fn loops() -> ArgValueCompleter {
    of(&[Kind::Loops])
}

/// Variables of loops, and an expression behind them.
pub fn variables() -> ArgValueCompleter {
    of(&[Kind::Variables, Kind::Expressions])
}

/// `epoch=12`.
pub fn iterations() -> ArgValueCompleter {
    of(&[Kind::Iterations])
}

/// Columns of `florc runs`.
pub fn columns() -> ArgValueCompleter {
    of(&[Kind::Columns])
}

/// Lines of the script, and an expression behind them.
pub fn lines() -> ArgValueCompleter {
    of(&[Kind::Lines, Kind::Expressions])
}
