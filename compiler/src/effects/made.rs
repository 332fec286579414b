//! What summaries were made from: one is made again only when something that it was made from is another now.

use crate::ids::{Id, IdVec};
use crate::scopes::ScopeId;

/// What one summary was made from.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// The functions whose summaries were looked up.
    pub functions: Vec<ScopeId>,
    /// Whether what handlers do was.
    pub handlers: bool,
}

/// Of every function: which version of its summary there is, and which versions of others it was made from.
#[derive(Debug)]
pub(super) struct Made {
    versions: IdVec<ScopeId, u32>,
    /// None: it was not made yet, or what there is was not made from anything.
    from: IdVec<ScopeId, Option<From>>,
    /// Which version there is of what handlers do.
    pub handlers: u32,
}

#[derive(Debug)]
struct From {
    functions: Vec<(ScopeId, u32)>,
    handlers: Option<u32>,
}

impl Made {
    /// Of so many functions, before any summary.
    pub fn new(functions: usize) -> Self {
        let each = || (0..functions).map(ScopeId::new);
        Self { versions: each().map(|_| 0).collect(), from: each().map(|_| None).collect(), handlers: 0 }
    }

    /// Whether making the summary again would yield what there is.
    pub fn is_current(&self, function: ScopeId) -> bool {
        self.from[function].as_ref().is_some_and(|from| {
            from.handlers.is_none_or(|version| version == self.handlers)
                && from.functions.iter().all(|&(one, version)| self.versions[one] == version)
        })
    }

    /// A summary was made.
    pub fn note(&mut self, function: ScopeId, asked: &Asked, is_new: bool) {
        let functions = asked.functions.iter().map(|&one| (one, self.versions[one])).collect();
        self.from[function] = Some(From { functions, handlers: asked.handlers.then_some(self.handlers) });
        self.versions[function] += u32::from(is_new);
    }

    /// A summary gave way to one that was not made from anything.
    pub fn replaced(&mut self, function: ScopeId) {
        self.from[function] = None;
        self.versions[function] += 1;
    }
}
