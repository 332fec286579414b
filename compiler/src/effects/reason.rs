//! Why something changes, or cannot be followed. Decisions are taken on the reason; its words are for people, and are here only.

use super::place::Place;
use super::table2::Rule;
use crate::name::Name;
use std::fmt;
use std::sync::Arc;

/// Why a place is in a changeset, or why a loop is not skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A function or method does it, of which florc knows what it does, or knows nothing.
    Call {
        /// Its name, dotted if it is a library's.
        name: Name,
        /// What it does.
        does: Does,
    },
    /// It happens in a function of the project that is called.
    Inside {
        /// The function's qualified name.
        callee: Name,
        /// What happens there; never itself inside another one.
        inner: Arc<Reason>,
    },
    /// An object is called, and may change itself.
    CallsItself(Place),
    /// It is an argument of a call that florc cannot see into.
    Handed {
        /// Whether anything uses the call's result; else to change something is all that the call can be for.
        result_used: bool,
    },
    /// An iterator made elsewhere is an argument of `list`, `sum`, …
    Exhausted(Name),
    /// A function is registered with another one.
    Registered,
    /// A variable of a function that has returned changes.
    OutOfSight(Place),
    /// A function does more than is followed.
    TooMuch,
    /// `x += 1`.
    Augmented,
    /// `for … in x`.
    Iterated,
    /// A name, or an attribute of a module, gets an object.
    Bound(Place),
    /// An attribute gets an object.
    Assigned(Place),
    /// An attribute that is computed gets an object.
    PropertyAssigned {
        /// The attribute.
        attr: Name,
        /// Of which object.
        of: Place,
    },
    /// An attribute of a class of the project gets an object.
    ClassAttribute(Name),
    /// `x[i] = …`.
    ItemAssigned,
    /// What a call returned changes, and nobody knows what else holds it.
    ResultChanged,
    /// `del x`.
    Deleted(Place),
    /// `del x[i]`.
    ItemDeleted,
    /// `del x.y`.
    AttributeDeleted,
    /// `del library.y`.
    ImportedAttributeDeleted,
    /// Something changes that the loop has no name for.
    OutOfReach(Place),
    /// A name of an outer function that is not declared `nonlocal` gets another object.
    OuterName(Place),
    /// A row of the paper's Table 2 applies.
    ByRule(Rule),
    /// A row of the paper's Table 2 allows no estimate.
    NoEstimate(Rule),
    /// The loop is left by `yield` or `await`.
    Suspended,
    /// The loop is left by `return`.
    Returns,
    /// The loop is left by a jump of an outer loop.
    OuterJump,
    /// The control flow around the loop is not known.
    NoFlow,
    /// Nobody sees who calls the function of the loop.
    Unfollowed,
    /// The loop does no real work.
    Cheap,
    /// Too many loops are around the loop.
    TooDeep,
    /// florc's list of loops in libraries says so.
    Listed,
    /// It is a call, of which the paper's rules say nothing.
    NoLoop,
    /// It is a call in which functions of the project run loops.
    LoopsOfOwn,
}

/// What a function or method does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the words are below
pub enum Does {
    Unknown,
    UnknownMethod,
    ChangeNames,
    ChangeSetting,
    ComputedName,
    OfImported,
    ChangeReceiver,
    ChangeArguments,
    ChangeFirst,
    ChangeSecond,
    ChangeThird,
    AdvanceFirst,
    WorkInPlace,
    TakeIt,
    Speak,
    Write,
}

impl Reason {
    /// Of a function or method by its name.
    pub(super) fn call(name: Name, does: Does) -> Self {
        Self::Call { name, does }
    }

    /// What happens, whatever function of the project it happens in.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Inside { inner, .. } => inner,
            other => other,
        }
    }

    /// The same in a function of the project.
    pub(super) fn inside(&self, callee: Name) -> Self {
        let inner = match self {
            Self::Inside { inner, .. } => Arc::clone(inner),
            other => Arc::new(other.clone()),
        };
        Self::Inside { callee, inner }
    }
}

/// A builtin's name as it is written.
pub(super) fn without_builtins(name: Name) -> Name {
    name.strip_prefix("builtins.").map_or(name, Name::new)
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Call { name, does } => return write!(f, "{name}() {does}"),
            Self::Inside { callee, inner } => return write!(f, "{callee}(): {inner}"),
            Self::CallsItself(place) => return write!(f, "{place}(…) is called and may change itself"),
            Self::Exhausted(name) => return write!(f, "{name} advances it"),
            Self::OutOfSight(place) => {
                return write!(f, "{place} changes inside a function, where it cannot be reached");
            }
            Self::Bound(place) => return write!(f, "{place} is bound"),
            Self::Assigned(place) => return write!(f, "{place} is assigned"),
            Self::PropertyAssigned { attr, of } => return write!(f, "{attr} of {of} is assigned"),
            Self::ClassAttribute(class) => return write!(f, "an attribute of the class {class} is assigned"),
            Self::Deleted(place) => return write!(f, "{place} is deleted"),
            Self::OutOfReach(place) => return write!(f, "{place} changes in a scope that this loop cannot reach"),
            Self::OuterName(place) => return write!(f, "{place} of an outer function gets a new value"),
            Self::ByRule(rule) => return write!(f, "{rule}"),
            Self::NoEstimate(rule) => {
                let why = match rule {
                    Rule::Reassignment => "a variable of the changeset is assigned again",
                    _ => "a function is called for its side effects",
                };
                return write!(f, "{rule}: {why}: no estimate");
            }
            Self::Handed { result_used: true } => "handed to a call that florc cannot see into, which may change it",
            Self::Handed { result_used: false } => {
                "handed to a call that florc cannot see into, and whose result is dropped"
            }
            Self::Registered => "what a function is registered with is kept where no checkpoint has it",
            Self::TooMuch => "changes more than can be followed",
            Self::Augmented => "augmented assignment",
            Self::Iterated => "iterated over",
            Self::ItemAssigned => "an item is assigned",
            Self::ResultChanged => "what a call returned is changed",
            Self::ItemDeleted => "an item is deleted",
            Self::AttributeDeleted => "an attribute is deleted",
            Self::ImportedAttributeDeleted => "an attribute of what is imported is deleted",
            Self::Suspended => "it can be suspended here (yield or await)",
            Self::Returns => "return leaves it here",
            Self::OuterJump => "a jump to an outer loop leaves it here",
            Self::NoFlow => "no flow",
            Self::Unfollowed => "it runs inside calls that florc does not follow",
            Self::Cheap => "it holds nothing worth skipping",
            Self::Listed => "what the library's loop changes is listed",
            Self::NoLoop => "it is no loop",
            Self::LoopsOfOwn => "loops of functions that it calls are skipped themselves",
            Self::TooDeep => "it is nested too deeply: following it would cost more than skipping it saves",
        })
    }
}

impl fmt::Display for Does {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => "is not known and may change its arguments",
            Self::UnknownMethod => "is not known and may change its receiver and arguments",
            Self::ChangeNames => "can change any name",
            Self::ChangeSetting => "changes a setting that no checkpoint holds",
            Self::ComputedName => "with a computed name",
            Self::OfImported => "of what is imported",
            Self::ChangeReceiver => "changes its receiver",
            Self::ChangeArguments => "changes its arguments",
            Self::ChangeFirst => "changes its first argument",
            Self::ChangeSecond => "changes its second argument",
            Self::ChangeThird => "changes its third argument",
            Self::AdvanceFirst => "advances its first argument",
            Self::WorkInPlace => "works in place",
            Self::TakeIt => "is called with it",
            Self::Speak => "speaks to the outside",
            Self::Write => "may write to an open file",
        })
    }
}
