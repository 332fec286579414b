//! What a statement of one version that the other lacks does besides looking.

use crate::effects::Reason;
use std::fmt;

/// What makes a change more than a log statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Apart {
    /// It is only in the old version.
    Removed,
    /// It is another one in the new version.
    Edited,
    /// It changes the flow of control.
    Control,
    /// It draws random numbers.
    Draws,
    /// It changes something.
    Changes(Reason),
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Removed => f.write_str("removed"),
            Self::Edited => f.write_str("edited"),
            Self::Control => f.write_str("it changes the flow of control"),
            Self::Draws => f.write_str("it draws random numbers: what comes after would draw others"),
            Self::Changes(why) => write!(f, "{why}"),
        }
    }
}

/// What a statement does besides looking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct More {
    /// The first such thing.
    pub why: Apart,
    /// Whether that is all about objects and generators, which can be looked at before and after it runs.
    pub can_be_seen: bool,
}
