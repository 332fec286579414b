//! The entries of a journal, one class a kind (docs/run-format.md). Fields that nothing reads are left out, and those that older
//! versions of florc did not write have a default.
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use florc::plan::schema;
use pyo3::prelude::*;
use serde::Deserialize;

use super::text::{Json, Text};
use crate::project::plan::Plan;

/// Derives what every kind needs.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident { $($(#[$meta:meta])* $field:ident: $type:ty,)* })*) => {$(
        $(#[$doc])*
        #[pyclass(frozen, get_all, module = "florc._native")]
        #[derive(Debug, Clone, Deserialize)]
        pub struct $name { $($(#[$meta])* $field: $type,)* }
    )*};
}

kinds! {
    /// A text that ran.
    Source { file: Text, kept: Text, module: Text, package: Text, hash: Text, }

    /// The state of a generator at the start of the run.
    Generator { name: String, state: Text, }

    /// What a clock showed when the run began, the number of its process, and since when `logging` counts, in nanoseconds.
    Clocks { perf_counter: f64, pid: Option<i64>, logging: Option<i64>, }

    /// Versions, processor, threads, settings.
    Circumstances { found: Json, }

    /// The distributions that modules were loaded from, and hashes of their files.
    Distributions { found: Json, }

    /// Environment variables that the user's files name, and hashes of their values.
    Variables { found: Json, }

    /// A file runs as it is.
    LeftAlone { file: Text, }

    /// An iteration begins, so many seconds after the run. `memory`: bytes that the process holds, and held at most; then those on
    /// its device.
    Iteration {
        path: String,
        at: f64,
        #[serde(default)]
        memory: Vec<u64>,
    }

    /// The whole number that is the item of an iteration.
    Value { path: String, number: i64, }

    /// The items of the loop of this iteration are no numbers, or follow no rule.
    NoNumbers { path: String, }

    /// The iterator had no more.
    NoIteration {
        path: String,
        #[serde(default)]
        memory: Vec<u64>,
    }

    /// A line of standard output, and the statement that wrote it.
    Line {
        path: String,
        text: Text,
        file: Option<Text>,
        line: i64,
        /// Places and what was written there, where that is more than one.
        #[serde(default)]
        parts: Vec<(String, Text)>,
        /// Where in the text stands what a logger was told: the first character, and how many there are.
        #[serde(default)]
        message: Option<(usize, usize)>,
        /// The line of the statement that began it, where that is another one; 0: of another file.
        #[serde(default)]
        begun: Option<i64>,
    }

    /// Lines of standard output.
    Lines { lines: Vec<Line>, }

    /// Lines of standard error that the project's statements and loggers wrote, or those that loggers wrote to a file.
    Errors {
        lines: Vec<Line>,
        /// The number of the file, from 1; 0 for standard error.
        #[serde(default)]
        log: u32,
    }

    /// Lines that a process printed which the script forked. Their place in the loop nest is where it was forked.
    ChildLines {
        /// `2`: the second process that the script forked; `2.1`: the first one that this forked.
        child: String,
        is_error: bool,
        lines: Vec<Line>,
    }

    /// How long a block ran; `left`: an exception left it.
    Block {
        key: String,
        seconds: f64,
        #[serde(default)]
        left: bool,
    }

    /// Checkpoints that exist no more.
    Dropped { seqs: Vec<u64>, }

    /// The functions that a block with a checkpoint entered; a set is listed once.
    Entered {
        key: String,
        #[serde(rename = "set")]
        number: u64,
        functions: Option<Vec<usize>>,
    }

    /// The functions that were entered in other threads and processes; None: any may have been.
    EnteredElsewhere { functions: Option<Vec<usize>>, }

    /// Values from outside: place, function, differences of numbers, texts.
    Inputs { taken: Vec<(Text, Text, Vec<i64>, Vec<Text>)>, }

    /// Where names held other numbers and texts than before: a digest of each.
    Names { path: String, found: BTreeMap<String, String>, }

    /// No more of them are kept.
    InputsEnd { }

    /// The first Ctrl-C.
    Interrupted { path: String, }

    /// What was sent to this process by the script that spawned it, in hexadecimal; None where it cannot be sent again.
    Spawned { sent: Option<String>, }

    /// How many records could not be written so far.
    Lost { records: u64, }

    /// The run is about to change a file.
    File {
        path: Text,
        at: String,
        was: Option<String>,
        #[serde(default)]
        size: u64,
        #[serde(default = "readable")]
        mode: u32,
        #[serde(default)]
        mtime_ns: i128,
        #[serde(default)]
        target: Text,
        ends: Option<String>,
        kept: Option<Text>,
        #[serde(default)]
        kept_size: u64,
        #[serde(default)]
        kept_mtime_ns: i128,
        kept_hash: Option<String>,
        gone: Option<String>,
    }

    /// The run opens a file to read it; `at`: there, one that it has changed itself, for the so many-th time (`time`, from 0).
    Read {
        path: Text,
        size: u64,
        mtime_ns: i128,
        hash: Option<String>,
        #[serde(default)]
        at: Option<String>,
        #[serde(default)]
        time: u64,
    }

    /// What was in a folder before the run changed something there.
    Folder { path: Text, names: BTreeSet<Text>, }

    /// A run of a tracker that the script began: of which, and by what it is found again.
    Tracked { tracker: Text, found: Json, }

    /// A value that the script asked for with `florc.arg`.
    Argument { name: Text, value: Json, }

    /// Why a block has no checkpoint.
    NotKept { block: String, why: Text, }

    /// The run is over.
    End {
        status: Text,
        seconds: f64,
        #[serde(default)]
        memory: Vec<u64>,
    }
}

/// A checkpoint that is durable.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug, Clone, Deserialize)]
pub struct Checkpoint {
    #[pyo3(get)]
    block: String,
    #[pyo3(get)]
    key: String,
    #[pyo3(get)]
    places: Vec<String>,
    #[pyo3(get)]
    gradients: bool,
    /// Whether some tensor had a gradient that is not in it.
    #[pyo3(get)]
    #[serde(default)]
    leaves_gradients: bool,
    chunks: Vec<Chunk>,
    #[pyo3(get)]
    seq: u64,
    /// Nodes of objects that nothing else referred to, and of tensors whose memory no other had, as runs: the first, how many.
    #[pyo3(get)]
    #[serde(default)]
    alone: Vec<(usize, usize)>,
    #[pyo3(get)]
    #[serde(default)]
    lone_memory: Vec<(usize, usize)>,
    /// The classes of the iterators that it does not hold, although they were under way.
    #[pyo3(get)]
    #[serde(default)]
    lapsed: Vec<String>,
    /// Names outside the block that held objects of its places.
    #[pyo3(get)]
    names: Vec<String>,
    /// Places whose object is not the one that was there before the block: the place where it was then, if any.
    #[pyo3(get)]
    origins: BTreeMap<String, Option<String>>,
    /// Of the places, those that the recorded script read no more.
    #[pyo3(get)]
    #[serde(default)]
    dead: BTreeSet<String>,
    /// Of further such names: library, shape, dtype.
    #[pyo3(get)]
    #[serde(default)]
    forms: BTreeMap<String, (String, Vec<u64>, String)>,
    /// Digests of what the program's names led to (`survey/witness.py`); none in runs of earlier versions.
    #[pyo3(get)]
    #[serde(default)]
    witness: BTreeMap<String, String>,
}

/// Of a file of which the record does not tell.
fn readable() -> u32 {
    0o644
}

#[derive(Debug, Clone, Deserialize)]
struct Chunk {
    hash: String,
    len: u64,
}

#[pymethods]
impl Checkpoint {
    /// The hashes of its chunks; the first is the object graph, the others are its leaves.
    #[getter]
    fn chunks(&self) -> Vec<&str> {
        self.chunks.iter().map(|chunk| chunk.hash.as_str()).collect()
    }

    /// Bytes of its chunks.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.chunks.iter().map(|chunk| chunk.len).sum()
    }
}

/// What is done to the loops of a file.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug, Clone, Deserialize)]
pub struct Planned {
    #[pyo3(get)]
    file: Text,
    plan: Arc<schema::Plan>,
}

#[pymethods]
impl Planned {
    /// The plan.
    #[getter]
    fn plan(&self) -> Plan {
        Plan::new(Arc::clone(&self.plan))
    }
}
