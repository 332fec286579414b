//! The `florc` command for everything that needs no Python process.

fn main() {
    std::process::exit(florc::cli::main());
}
