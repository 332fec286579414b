//! Completion in shells: `florc completion bash` prints what calls florc at each Tab, and here it answers.

use super::args::Cli;
use super::completion::{CompletionArgs, Shell, begin};
use super::output::{OK, UNUSABLE, print};
use clap::CommandFactory as _;
use clap_complete::env::Shells;
use std::ffi::OsString;

/// Names the shell of a command line that is to be completed; only the functions that `florc completion` prints set it.
pub const ASKED: &str = "_FLORC_COMPLETE";

/// Prints what the shell is to run. The exit code.
pub fn completion(args: &CompletionArgs) -> i32 {
    let name = match args.shell {
        Shell::Bash => "bash",
        Shell::Fish => "fish",
        Shell::Zsh => "zsh",
    };
    let mut text = Vec::new();
    let Some(shell) = Shells::builtins()
        .completer(name)
        .map(|shell| shell.write_registration(ASKED, "florc", "florc", "florc", &mut text))
    else {
        return UNUSABLE;
    };
    written(shell.map(|()| text))
}

/// Answers the functions that `florc completion` printed: `florc -- florc logs lo`. None where no shell asks.
pub fn completed(argv: &[OsString]) -> Option<i32> {
    let asked = std::env::var(ASKED).ok().filter(|name| !name.is_empty())?;
    let shells = Shells::builtins();
    let shell = shells.completer(&asked)?;
    let at = argv.iter().position(|word| word == "--")?;
    let words = argv[at + 1..].to_vec();
    begin(words.iter().map(|word| word.to_string_lossy().into_owned()).collect());
    let mut text = Vec::new();
    let here = std::env::current_dir().ok();
    let mut command = Cli::command();
    command.build();
    let found = shell.write_complete(&mut command, words, here.as_deref(), &mut text);
    Some(written(found.map(|()| text)))
}

fn written(text: std::io::Result<Vec<u8>>) -> i32 {
    match text {
        Ok(text) => {
            print(&String::from_utf8_lossy(&text));
            OK
        }
        Err(_) => UNUSABLE,
    }
}
