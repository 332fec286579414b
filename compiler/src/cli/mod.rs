//! The command line: arguments, commands, exit codes. The only part that touches the file system and standard output.

mod args;
mod compile;
mod modules;
mod output;
mod probes;
mod read;

pub use args::{Cli, Command, RecordArgs, ReplayArgs, RunsArgs, VerifyArgs};
pub use compile::plans_text;
pub use modules::load as load_codebase;
pub use output::{DIFFERS, OK, UNUSABLE};
pub use probes::to_text as probes_text;
pub use read::read_source;

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
        command => Outcome::Runtime(Box::new(command)),
    }
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
