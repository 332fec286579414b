//! What a plan says.

use crate::effects::{Changeset, Obstacle};
use crate::ids::StmtId;
use crate::source::Range;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Which side-effect analysis decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectsMode {
    /// The paper's Table 2, literally.
    Table2,
    /// Data flow, call summaries and library knowledge.
    #[default]
    Flow,
}

/// What is done to a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Its iterations are followed (`generator`, `tick`), its blocks memoized.
    MainLoop,
    /// It is wrapped in a SkipBlock.
    SkipBlock,
    /// Both: a loop of epochs inside a loop of folds, or a training loop without loops inside.
    Both,
    /// It runs inside a memoized loop (its id), and is skipped with it.
    Inside(String),
    /// The same; if that loop (its id) cannot be restored, this one is memoized in its place.
    Reserve(String),
    /// Nothing is done to it.
    LeftAlone,
}

/// The plan for one loop.
#[derive(Clone, Debug)]
pub struct LoopPlan {
    /// `L1`, `L2`, … in source order, with the file's qualifier before it.
    pub id: String,
    /// What is done.
    pub action: Action,
    /// What skipping it puts back; empty unless it is memoized.
    pub changeset: Changeset,
    /// What jumping to the start of one of its iterations puts back; only of a followed loop that trains, or holds one.
    pub boundary: Option<Changeset>,
    /// Whether gradients belong to that.
    pub boundary_gradients: bool,
    /// It takes training steps itself, outside the loops inside it.
    pub trains: bool,
    /// Whether gradients belong to its checkpoint.
    pub gradients: bool,
    /// Whether what it computes may be differentiated after it.
    pub differentiated: bool,
    /// Why it is left alone, or what should be known about it.
    pub note: Option<Obstacle>,
    /// Where it is.
    pub range: Range,
    /// Its first line, 1-based.
    pub line: usize,
    /// Its last line, 1-based.
    pub end_line: usize,
    /// Its header as written, on one line: `for epoch in range(10)`.
    pub header: String,
    /// The function it is in; empty at module level.
    pub scope: String,
    /// The loop around it in the same function: an index into the file's loops.
    pub parent: Option<usize>,
    /// How deep it is nested in loops of the same function, from 0.
    pub depth: usize,
    /// The number of its statement.
    pub stmt: StmtId,
    /// The names that its statements bind, sorted: those that are no places hold, after a skip, what they held before.
    pub binds: Vec<String>,
}

impl LoopPlan {
    /// Whether its iterator or condition is wrapped.
    pub fn is_followed(&self) -> bool {
        matches!(self.action, Action::MainLoop | Action::Both)
    }

    /// Whether it is a SkipBlock.
    pub fn is_memoized(&self) -> bool {
        matches!(self.action, Action::SkipBlock | Action::Both | Action::Reserve(_))
    }
}

/// A function that tells that it is entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The number of its `def` statement.
    pub stmt: StmtId,
    /// Its qualified name.
    pub function: String,
    /// The first line of its `def` statement (of its decorators), 1-based.
    pub line: usize,
    /// Whether its callers are known, and it tells only so that these can be compared with what enters it.
    pub is_check: bool,
}

/// The plan for a file.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One entry per loop, in source order.
    pub loops: Vec<LoopPlan>,
    /// The analysis used.
    pub mode: EffectsMode,
    /// What is called to get a value from outside, in source order: `time.time` in `time.time()`.
    pub inputs: Vec<Range>,
    /// The functions that tell that they are entered, in source order; none where a replay is planned.
    pub heads: Vec<Head>,
    /// The number that the first of them tells.
    pub first_head: usize,
}

/// The plans of a recorded project: its loops by the numbers that their statements have today.
pub type Recorded<'p> = BTreeMap<StmtId, &'p LoopPlan>;

/// How a plan is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The analysis.
    pub mode: EffectsMode,
    /// Whether functions whose callers are known tell that they are entered, too: to find what the call graph lacks.
    pub all_heads: bool,
    /// Whether the file is one of a library's, in which the loops of [`Knowledge::followed`](crate::knowledge::Knowledge::followed)
    /// are followed, and nothing else is done.
    pub library: bool,
}
