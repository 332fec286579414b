//! A line that was printed, as the journal has it; and the way of those of forked children, who cannot write there.
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::process::logged::Span;

/// A line: where in the loop nest it ended, what it says, the statement that ended it, what it was put together from where that was
/// written at different places of the nest, where in it stands what a logger was told, and the line of the statement that began it, if
/// that is another one (0: of another file).
pub struct Line {
    pub path: Arc<str>,
    pub text: String,
    pub file: Option<Arc<str>>,
    pub number: i64,
    pub parts: Vec<(Arc<str>, String)>,
    pub message: Option<Span>,
    pub begun: Option<i64>,
}

impl Serialize for Line {
    /// A list, without what is empty at its end: a run may have a million of them.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = if self.begun.is_some() {
            7
        } else if self.message.is_some() {
            6
        } else {
            4 + usize::from(!self.parts.is_empty())
        };
        let mut list = serializer.serialize_seq(Some(length))?;
        list.serialize_element(&self.path)?;
        list.serialize_element(&self.text)?;
        list.serialize_element(&self.file)?;
        list.serialize_element(&self.number)?;
        if length > 4 {
            list.serialize_element(&self.parts)?;
        }
        if length > 5 {
            list.serialize_element(&self.message)?;
        }
        if length > 6 {
            list.serialize_element(&self.begun)?;
        }
        list.end()
    }
}

/// What goes to the journal at once.
#[derive(serde::Serialize)]
pub struct Lines {
    pub lines: Vec<Line>,
}

/// A child that the script forked: where it leaves its lines, its number, and where in the loop nest it was forked.
pub struct Forked {
    pub path: String,
    pub child: String,
    pub place: Arc<str>,
}

/// A record `child lines`.
#[derive(serde::Serialize)]
struct ChildLines<'a> {
    child: &'a str,
    is_error: bool,
    lines: Vec<Line>,
}

impl Forked {
    /// Adds lines to the file, in one call, so that those of several children do not mix. At once, as nothing is told of a child's
    /// end; and anew each time, as a child may close descriptors that it does not know.
    ///
    /// # Errors
    /// Those of the file.
    pub fn tell(&self, lines: Vec<Line>, is_error: bool) -> std::io::Result<()> {
        let mut record = serde_json::to_string(&ChildLines { child: &self.child, is_error, lines })?;
        record.push('\n');
        let mut file = OpenOptions::new().append(true).create(true).mode(0o600).open(&self.path)?;
        file.write_all(record.as_bytes())
    }
}
