//! The plan of a file as other programs get it: the runtime, the journal of a run, `florc plan --json`.
//!
//! The fields are in the order of the alphabet, as they are in the text, which old runs hold. Reasons are words here: nothing
//! is decided on them.

use super::model::{self, EffectsMode, LoopPlan};
use crate::effects::{Change, Changeset, Obstacle};
use crate::source::Source;
use serde::{Deserialize, Serialize};

/// What is done to each loop of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The analysis that decided.
    pub effects: EffectsMode,
    /// The file's name, as its source has it.
    pub file: String,
    /// The functions that tell that they are entered, in source order.
    #[serde(default)]
    pub functions: Vec<Function>,
    /// Its loops, in source order.
    pub loops: Vec<Loop>,
}

/// A function that tells that it is entered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its qualified name.
    pub function: String,
    /// Its first line, decorators included, 1-based.
    pub line: usize,
    /// What it tells.
    pub number: usize,
}

/// What is done to a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Action {
    /// Its iterations are followed, its blocks memoized.
    #[serde(rename = "main loop")]
    MainLoop,
    /// It is a SkipBlock.
    #[serde(rename = "memoized")]
    SkipBlock,
    /// Both.
    #[serde(rename = "main loop, memoized")]
    Both,
    /// It is skipped with the loop that [`Loop::inside`] names.
    #[serde(rename = "skipped with")]
    Inside,
    /// The same; memoized in the place of that one, if that one cannot be restored.
    #[serde(rename = "in reserve")]
    Reserve,
    /// Nothing.
    #[serde(rename = "left alone")]
    LeftAlone,
}

/// A loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// What is done to it.
    pub action: Action,
    /// The names that its statements bind, sorted.
    #[serde(default)]
    pub binds: Vec<String>,
    /// What an iteration finds, if it can be put back.
    #[serde(default)]
    pub boundary: Option<Boundary>,
    /// Whether what it computes may be differentiated after it.
    #[serde(default)]
    pub differentiated: bool,
    /// Its last line, 1-based.
    pub end_line: usize,
    /// Whether its iterations are followed.
    pub followed: bool,
    /// The function it is in; empty at module level.
    pub function: String,
    /// Whether gradients belong to its checkpoint.
    pub gradients: bool,
    /// As it is written, on one line.
    pub header: String,
    /// `L1`, `pkg.engine.L2`.
    pub id: String,
    /// The memoized loop that it runs in, if it is skipped with that.
    pub inside: Option<String>,
    /// Its first line, 1-based.
    pub line: usize,
    /// Whether it is a SkipBlock.
    pub memoized: bool,
    /// Why it is left alone, or what should be known about it.
    pub note: Option<Note>,
    /// The loop around it in the same function.
    pub parent: Option<String>,
    /// What skipping it puts back, in the order in which `end` and `restore` take it.
    pub places: Vec<Place>,
    /// Whether it takes training steps itself.
    #[serde(default)]
    pub trains: bool,
    /// Whether it may write to files that are open already. Old plans do not say: it may.
    #[serde(default = "yes")]
    pub writes: bool,
}

fn yes() -> bool {
    true
}

/// What jumping to the start of an iteration puts back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boundary {
    /// Whether gradients belong to it.
    pub gradients: bool,
    /// The places.
    pub places: Vec<Place>,
    /// Whether an iteration may write to files that are open already. Old plans do not say: it may.
    #[serde(default = "yes")]
    pub writes: bool,
}

/// A place of a changeset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Whether every reason is an assumption about code that florc cannot see.
    #[serde(default)]
    pub assumed: bool,
    /// Whether the name or attribute may get another object.
    pub bound: bool,
    /// Whether it is looked up by its name, and not handed over.
    pub by_name: bool,
    /// Whether the loop's own scope does not reach it under this name.
    pub global: bool,
    /// Whether only its generators and position matter.
    pub iterated: bool,
    /// Where the first effect that put it here is, 1-based.
    pub line: usize,
    /// Whether its object may change in place.
    pub mutated: bool,
    /// `net`, `self.best`, `engine:step` for a global of another module.
    pub place: String,
    /// Why it is here.
    pub why: String,
}

/// What should be known about a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Where, 1-based.
    pub line: usize,
    /// What.
    pub why: String,
}

impl Plan {
    /// A plan as other programs get it.
    pub fn new(source: &Source, plan: &model::Plan) -> Self {
        let heads = (plan.first_head..).zip(&plan.heads).filter(|(_, head)| !head.is_check);
        let function = |(number, head): (usize, &model::Head)| Function {
            function: head.function.clone(),
            line: head.line,
            number,
        };
        Self {
            effects: plan.mode,
            file: source.name.clone(),
            functions: heads.map(function).collect(),
            loops: plan.loops.iter().map(|entry| Loop::new(source, plan, entry)).collect(),
        }
    }

    /// Its text.
    pub fn to_json(&self) -> String {
        // a struct of texts, numbers and lists always has one
        serde_json::to_string(self).unwrap_or_default()
    }

    /// From its text.
    ///
    /// # Errors
    /// What is amiss with the text.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Loop {
    fn new(source: &Source, plan: &model::Plan, entry: &LoopPlan) -> Self {
        let places = |found: &Changeset| found.changes.iter().map(|change| Place::new(source, change)).collect();
        Self {
            action: match &entry.action {
                model::Action::MainLoop => Action::MainLoop,
                model::Action::SkipBlock => Action::SkipBlock,
                model::Action::Both => Action::Both,
                model::Action::Inside(_) => Action::Inside,
                model::Action::Reserve(_) => Action::Reserve,
                model::Action::LeftAlone => Action::LeftAlone,
            },
            binds: entry.binds.clone(),
            boundary: entry.boundary.as_ref().map(|found| Boundary {
                gradients: entry.boundary_gradients,
                places: places(found),
                writes: found.writes,
            }),
            differentiated: entry.differentiated,
            end_line: entry.end_line,
            followed: entry.is_followed(),
            function: entry.scope.clone(),
            gradients: entry.gradients,
            header: entry.header.clone(),
            id: entry.id.clone(),
            inside: match &entry.action {
                model::Action::Inside(outer) | model::Action::Reserve(outer) => Some(outer.clone()),
                _ => None,
            },
            line: entry.line,
            memoized: entry.is_memoized(),
            note: entry.note.as_ref().map(|note| Note::new(source, note)),
            parent: entry.parent.map(|at| plan.loops[at].id.clone()),
            places: places(&entry.changeset),
            trains: entry.trains,
            writes: entry.changeset.writes,
        }
    }
}

impl Place {
    fn new(source: &Source, change: &Change) -> Self {
        Self {
            assumed: change.assumed,
            bound: change.bound,
            by_name: change.by_name(),
            global: change.global,
            iterated: change.iterated,
            line: source.lines.line(change.range.start),
            mutated: change.mutated,
            place: change.name(),
            why: change.why.to_string(),
        }
    }
}

impl Note {
    fn new(source: &Source, note: &Obstacle) -> Self {
        Self { line: source.lines.line(note.range.start), why: note.why.to_string() }
    }
}
