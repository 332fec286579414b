//! The command line: arguments, commands, exit codes. The only part that touches the file system and standard output.

mod answers;
mod args;
mod colors;
mod compile;
mod completion;
mod modules;
mod output;
mod probes;
mod read;
mod replay;
mod shells;
mod store;

pub use answers::{DiffArgs, Format, LogsArgs, PlotArgs, QueryArgs, ShowArgs, UiArgs};
pub use args::{Cli, Command, RecordArgs, VerifyArgs};
pub use colors::{Colored, When};
pub use compile::plans_text;
pub use completion::{CompletionArgs, Kind, Offer, offer};
pub use modules::load as load_codebase;
pub use output::{DIFFERS, OK, UNUSABLE};
pub use probes::to_text as probes_text;
pub use read::read_source;
pub use replay::{AskArgs, ReplayArgs};
pub use shells::ASKED;
pub use store::{CheckArgs, GcArgs, RmArgs, RunsArgs};

use clap::{CommandFactory as _, Parser as _};
use std::ffi::OsString;

/// What is left to do after the arguments are read.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing: the command ran and ended with this exit code.
    Done(i32),
    /// A command that needs a Python process.
    Runtime(Box<Command>),
}

/// Reads the arguments (program name first) and runs what needs no Python process.
pub fn run<I, T>(argv: I) -> Outcome
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let argv: Vec<OsString> = argv.into_iter().map(Into::into).collect();
    if let Some(code) = shells::completed(&argv) {
        return Outcome::Done(code);
    }
    let argv = with_words_of_module(argv);
    let cli = match Cli::try_parse_from(&argv).and_then(|cli| no_unknown_option(cli, &argv)) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output and are no error.
            let code = if error.use_stderr() { UNUSABLE } else { OK };
            let _ = error.print();
            return Outcome::Done(code);
        }
    };
    match cli.command {
        Command::Instrument(args) => Outcome::Done(compile::instrument(&args)),
        Command::Plan(args) => Outcome::Done(compile::plan(&args)),
        Command::Probes(args) => Outcome::Done(probes::probes(&args)),
        Command::Completion(args) => Outcome::Done(shells::completion(&args)),
        command => Outcome::Runtime(Box::new(command)),
    }
}

/// As with `python -m`, all that follows `florc record … -m MODULE` is the module's: as if `--` stood there.
fn with_words_of_module(mut argv: Vec<OsString>) -> Vec<OsString> {
    let is_module =
        |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("-m") || word.starts_with("--module"));
    if argv.get(1).is_none_or(|command| command != "record") || !argv.iter().any(is_module) {
        return argv;
    }
    let valued: Vec<String> = Cli::command()
        .find_subcommand("record")
        .into_iter()
        .flat_map(clap::Command::get_opts)
        .filter(|option| option.get_action().takes_values())
        .filter_map(|option| option.get_long().map(|long| format!("--{long}")))
        .collect();
    let mut at = 2;
    while let Some(word) = argv.get(at).and_then(|word| word.to_str()) {
        let joined = word.strip_prefix("--module=").or_else(|| word.strip_prefix("-m")).filter(|name| !name.is_empty());
        let joined = joined.map(OsString::from);
        let is_end = word == "--" || !word.starts_with('-');
        let step = 1 + usize::from(valued.iter().any(|option| option == word));
        if let Some(module) = joined {
            argv.splice(at..=at, ["-m".into(), module]);
        }
        if argv.get(at).is_some_and(|word| word == "-m" || word == "--module") {
            if argv.get(at + 2).is_some_and(|next| next != "--") {
                argv.insert(at + 2, "--".into());
            }
            break;
        }
        if is_end {
            break;
        }
        at += step;
    }
    argv
}

/// What follows `florc record` belongs to the script from its name on: an option that stands before it is florc's own.
fn no_unknown_option(cli: Cli, argv: &[OsString]) -> Result<Cli, clap::Error> {
    let Command::Record(args) = &cli.command else { return Ok(cli) };
    if args.module.is_none() && args.script.first().is_some_and(|word| word.starts_with('-')) {
        let own = |script: clap::Arg| script.allow_hyphen_values(false).trailing_var_arg(false);
        Cli::command().mut_subcommand("record", |record| record.mut_arg("script", own)).try_get_matches_from(argv)?;
    }
    Ok(cli)
}

/// `florc` built by cargo alone: commands that run a script are in the Python package.
pub fn main() -> i32 {
    match crate::syntax::on_deep_stack(crate::syntax::DEEP_STACK, || run(std::env::args_os())) {
        Outcome::Done(code) => code,
        Outcome::Runtime(command) => {
            eprintln!("florc: `{}` runs Python code: install the Python package (pip install florc)", command.name());
            UNUSABLE
        }
    }
}
