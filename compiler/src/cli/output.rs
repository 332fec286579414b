//! Exit codes and standard output.

use std::io::Write as _;

/// The command did what was asked.
pub const OK: i32 = 0;
/// `--check` found something to change, or a replay found an anomaly.
pub const DIFFERS: i32 = 1;
/// The input cannot be used, or the arguments are wrong.
pub const UNUSABLE: i32 = 2;

/// Prints to standard output; a reader that went away is no error.
pub(super) fn print(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
