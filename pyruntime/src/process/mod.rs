//! The process around the script: how its code is run, what it prints, which files it touches, which libraries it has.
pub mod audit;
pub mod distributions;
pub mod imports;
pub mod line;
pub mod logged;
pub mod main_script;
pub mod memory;
pub mod modules;
pub mod redirect;
pub mod tap;
#[cfg(target_os = "linux")]
pub mod world;
