//! What was met while a function is summarized: large programs say everything a thousand times.

use super::EffectKind;
use super::made::Asked;
use super::place::Place;
use crate::scopes::ScopeId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Numbers for what happens to which place, and which of them the function at hand has so far.
#[derive(Debug, Default)]
pub(super) struct Met {
    numbers: FxHashMap<(EffectKind, Option<Place>), u32>,
    /// What calls of the project do.
    pub news: Set,
    /// What is said by the statements of the function.
    pub said: Set,
    /// What its summary holds.
    pub summarized: Set,
    /// The functions whose effects are among the news, those on their arguments apart.
    pub functions: FxHashSet<ScopeId>,
    /// What was looked up.
    pub asked: Asked,
}

impl Met {
    /// Forgets all but the numbers.
    pub fn begin(&mut self) {
        self.news.clear();
        self.said.clear();
        self.summarized.clear();
        self.functions.clear();
        self.asked = Asked::default();
    }

    /// The number of what happens to a place: always the same one.
    pub fn number(&mut self, kind: EffectKind, place: Option<Place>) -> u32 {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        *self.numbers.entry((kind, place)).or_insert(next)
    }
}

/// A set of small numbers that is emptied often.
#[derive(Debug, Default)]
pub(super) struct Set {
    /// By number: in which round it was put in last.
    rounds: Vec<u32>,
    round: u32,
}

impl Set {
    fn clear(&mut self) {
        self.round += 1;
    }

    /// Puts a number in; whether it was not there.
    pub fn insert(&mut self, number: u32) -> bool {
        let at = number as usize;
        if self.rounds.len() <= at {
            self.rounds.resize(at + 1, 0);
        }
        std::mem::replace(&mut self.rounds[at], self.round) != self.round
    }
}

#[cfg(test)]
mod tests {
    use super::Set;

    #[test]
    fn a_cleared_set_is_empty() {
        let mut set = Set::default();
        for _ in 0..3 {
            set.clear();
            assert!(set.insert(7) && !set.insert(7) && set.insert(2));
        }
    }
}
