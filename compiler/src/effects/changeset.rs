//! What skipping a loop must put back.

use super::place::Place;
use super::reason::Reason;
use crate::source::Range;

/// One place of a changeset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The place.
    pub place: Place,
    /// The module that holds it, when that is not the loop's own.
    pub module: Option<String>,
    /// Its object may change in place.
    pub mutated: bool,
    /// The name or attribute may get another object, which is read after the loop.
    pub bound: bool,
    /// It is iterated over: only its generators and position matter.
    pub iterated: bool,
    /// It may be unbound when the loop is over: it is passed by name, and stays unbound.
    pub maybe: bool,
    /// It is a global of the file that the loop's own scope does not reach under this name.
    pub global: bool,
    /// It is surely bound before the loop, so that the present object can be handed over.
    pub bound_before: bool,
    /// Where the first effect that put it here is.
    pub range: Range,
    /// Why it is here.
    pub why: Reason,
    /// Whether every reason is an assumption about code that florc cannot see.
    pub assumed: bool,
}

impl Change {
    /// The place as plans and checkpoints name it: `net`, `self.best`, `engine:step` for a global of another module.
    pub fn name(&self) -> String {
        match &self.module {
            Some(module) => format!("{module}:{}", self.place),
            None => self.place.to_string(),
        }
    }

    /// Whether `end` and `restore` look the place up by its name: it may be unbound, is not seen where the loop is, or is an
    /// attribute, which emitted code must not ask for, as that may run code of the user's.
    pub fn by_name(&self) -> bool {
        self.maybe || self.global || self.is_attribute()
    }

    /// Whether the place is an attribute of an object.
    pub fn is_attribute(&self) -> bool {
        !self.place.attrs.is_empty()
    }
}

/// The changes of a loop, in the order in which `end` and `restore` take them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changeset {
    /// The changes.
    pub changes: Vec<Change>,
    /// It may write to files that are open already, which nothing puts back.
    pub writes: bool,
}

/// Why no changeset can be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// Where.
    pub range: Range,
    /// Why.
    pub why: Reason,
}
