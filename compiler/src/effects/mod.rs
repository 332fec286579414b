//! What statements, functions and loops change.

mod alias;
mod arguments;
mod callbacks;
mod calls;
mod changeset;
mod extract;
mod filter;
mod fixpoint;
mod inputs;
mod iterators;
mod made;
mod met;
mod place;
mod reason;
mod receivers;
mod site;
mod summary;
pub mod table2;

pub use alias::Aliases;
pub use changeset::{Change, Changeset, Obstacle};
pub use extract::Extractor;
pub use filter::{Instant, changeset, listed_changeset};
pub use inputs::inputs;
pub use place::Place;
pub use reason::{Does, Reason};
pub use receivers::method_facts;
pub use summary::{Summaries, Summary};

use crate::source::Range;

/// What happens to a place, or to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// The name, or the attribute, gets a new object.
    Bind,
    /// The object that the place reaches changes in place.
    Mutate,
    /// The object is iterated over: an iterator is advanced, a data loader draws its order.
    Iterate,
    /// An iterator made elsewhere is advanced by `next`.
    Consume,
    /// The name is deleted.
    Unbind,
    /// The outside world is spoken to.
    External,
    /// A file that was open before may be written to.
    Writes,
    /// Something happens that florc cannot follow.
    Unknown,
}

/// One effect, with the place in the source that has it and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// What happens.
    pub kind: EffectKind,
    /// To which place; `None` for effects on the world.
    pub place: Option<Place>,
    /// Where in the source.
    pub range: Range,
    /// Why.
    pub why: Reason,
    /// Whether this is an assumption about code that florc cannot see.
    pub assumed: bool,
}

impl Effect {
    /// An effect that is known, not assumed.
    fn new(kind: EffectKind, place: Option<Place>, range: Range, why: Reason) -> Self {
        Self { kind, place, range, why, assumed: false }
    }

    /// An effect that code may have which florc cannot see.
    fn assumed(kind: EffectKind, place: Option<Place>, range: Range, why: Reason) -> Self {
        Self { kind, place, range, why, assumed: true }
    }
}
