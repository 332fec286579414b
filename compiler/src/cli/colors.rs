//! When what florc says has colors.

use clap::{Args, ValueEnum};
use serde::Serialize;

/// When.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum When {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Into files and pipes, too
    Always,
    /// Not even on a terminal
    Never,
}

/// Of the commands that show something.
#[derive(Debug, Args, Serialize)]
pub struct Colored {
    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    pub color: When,
}
