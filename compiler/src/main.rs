//! The `florc` command for everything that needs no Python process.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

fn main() {
    std::process::exit(florc::cli::main());
}
