//! Files as the user names them.

use super::output::UNUSABLE;
use crate::diagnostics::{Code, Diagnostic};
use crate::source::{Range, Source, decode};
use std::io::Read as _;
use std::path::Path;

/// Reads a file, or standard input for `-`.
///
/// # Errors
/// The message to print.
pub fn read_source(path: &Path) -> Result<Source, String> {
    if path.extension().is_some_and(|kind| kind == "ipynb") {
        let name = path.display();
        return Err(format!(
            "florc: {name} is a notebook, and this command reads Python: jupyter nbconvert --to script {name} makes a script of it\n"
        ));
    }
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    let name = if path == Path::new("-") { "<stdin>".to_owned() } else { path.display().to_string() };
    read.map_err(|error| format!("florc: cannot read {name}: {}\n", plain(&error)))?;
    decode(&bytes).map(|text| Source::new(name.clone(), text)).map_err(|(at, message)| {
        let shown = Source::new(name, String::from_utf8_lossy(&bytes).into_owned());
        let help = "save the file as UTF-8, or declare its encoding in a comment on the first line".to_owned();
        Diagnostic { code: Code::Encoding, message, range: Range::new(at, at), help }.render(&shown)
    })
}

/// The operating system's words without the error number.
pub(super) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

/// Reads and processes a file, or prints why it cannot be and gives the exit code.
pub(super) fn load<T>(path: &Path, work: impl FnOnce(&Source) -> Result<T, Diagnostic>) -> Result<(Source, T), i32> {
    let source = read_source(path).map_err(|message| {
        eprint!("{message}");
        UNUSABLE
    })?;
    match work(&source) {
        Ok(done) => Ok((source, done)),
        Err(diagnostic) => {
            eprint!("{}", diagnostic.render(&source));
            Err(UNUSABLE)
        }
    }
}
