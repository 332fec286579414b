//! Loops of a library's file that are followed there, and what they change: from a list, not from the code.

use super::describe::header;
use super::model::Options;
use super::roles::{Decision, Role};
use crate::analysis::Analysis;
use crate::effects::Obstacle;
use crate::ids::IdVec;
use crate::knowledge::{FollowedLoop, Knowledge};
use crate::loops::{Loop, LoopId};

/// By loop: what is known of it; None of loops that are not in the list.
pub(super) struct Listed(Option<IdVec<LoopId, Option<&'static FollowedLoop>>>);

impl Listed {
    /// Those of a library's file; of the user's files none.
    pub fn new(analysis: &Analysis, options: &Options) -> Self {
        Self(options.library.then(|| {
            let known = |entry: &Loop| {
                let file = &analysis.files[analysis.file_of(entry)];
                let function = &analysis.project.scopes.list[entry.scope].qualname;
                Knowledge::shipped().followed(&file.name)?.entry(function, &header(&file.source, entry))
            };
            analysis.loops.list.iter().map(known).collect()
        }))
    }

    /// Whether the file is a library's.
    pub fn is_library(&self) -> bool {
        self.0.is_some()
    }

    fn known(&self, at: LoopId) -> Option<&'static FollowedLoop> {
        self.0.as_ref()?.get(at).copied().flatten()
    }

    pub fn names(&self, at: LoopId) -> Option<&'static [String]> {
        self.known(at).map(|known| known.changes.as_slice())
    }

    /// Whether a replay may go on in the middle of a loop.
    pub fn has_starts(&self, at: LoopId) -> bool {
        self.known(at).is_some_and(|known| !known.is_whole)
    }

    /// Loops in the list are followed and memoized; nothing is done to others.
    pub fn roles(&self, obstacles: &IdVec<LoopId, Option<Obstacle>>) -> IdVec<LoopId, Decision> {
        let decide = |(at, obstacle): (LoopId, &Option<Obstacle>)| match (self.names(at), obstacle) {
            (None, _) => Decision { action: Role::LeftAlone, note: None },
            (Some(_), None) => Decision { action: Role::Both, note: None },
            (Some(_), Some(_)) => Decision { action: Role::MainLoop, note: obstacle.clone() },
        };
        obstacles.enumerated().map(decide).collect()
    }
}
