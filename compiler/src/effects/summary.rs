//! One summary per function: what calling it changes, in terms of its parameters and of the names around it.

use super::Effect;
use super::met::Met;
use crate::ids::IdVec;
use crate::scopes::ScopeId;

/// What calling a function changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Effects on parameters, on names of scopes around the function, and on the world.
    pub effects: Vec<Effect>,
    /// The number of what each of them does, and to which place: see [`Met`].
    pub(super) numbers: Vec<u32>,
    /// Which of them are effects on what parameters stand for.
    pub(super) on_arguments: Vec<u32>,
}

impl Summary {
    /// Of a function with these effects.
    pub(super) fn new(function: ScopeId, effects: Vec<Effect>, met: &mut Met) -> Self {
        let numbers = effects.iter().map(|effect| met.number(effect.kind, effect.place)).collect();
        let is_on_argument = |effect: &Effect| effect.place.is_some_and(|place| place.home == Some(function));
        let on_arguments = (0..).zip(&effects).filter(|(_, effect)| is_on_argument(effect)).map(|(at, _)| at).collect();
        Self { effects, numbers, on_arguments }
    }
}

/// The summaries of a project's functions.
#[derive(Clone, Debug, Default)]
pub struct Summaries {
    pub(super) list: IdVec<ScopeId, Option<Summary>>,
    /// What functions that are handed over or stored, and so may be called by anybody, do to other objects than their
    /// arguments.
    pub(super) handlers: Vec<Effect>,
}

impl Summaries {
    /// The summary of a function; `None` for modules and classes.
    pub fn get(&self, scope: ScopeId) -> Option<&Summary> {
        self.list.get(scope)?.as_ref()
    }
}
