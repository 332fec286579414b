//! The files of the user's project, and what their names mean.

mod cell;
mod classes;
mod codebase;
mod environment;
mod index;
mod leading;
mod names;
mod objects;

pub use cell::shown_at_end;
pub use codebase::{Codebase, Found, Unfollowed, follow};
pub use environment::variables;
pub(crate) use index::dotted;
pub use index::{ByName, ClassInfo, Index};
pub use leading::{Leading, leading_imports};
pub use names::Denoted;

use crate::name::Name;
use crate::scopes::{ScopeId, Scopes};
use crate::syntax::File;
use crate::syntax::tree::Expr;
use classes::Families;
use names::Names;

/// Everything that the files of a project define, and what names and classes mean across them.
#[derive(Debug)]
pub struct Project<'t> {
    /// Its scopes.
    pub scopes: Scopes<'t>,
    /// Its definitions.
    pub index: Index<'t>,
    families: Families,
}

impl<'t> Project<'t> {
    /// Of files whose statements are numbered one after another.
    pub fn new(files: &'t [File]) -> Self {
        let scopes = Scopes::new(files.iter().map(|file| &file.module));
        let index = Index::new(&scopes, files);
        let families = Families::new(Names { scopes: &scopes, index: &index });
        Self { scopes, index, families }
    }

    fn names(&self) -> Names<'_, 't> {
        Names { scopes: &self.scopes, index: &self.index }
    }

    /// What an expression denotes: `train`, `engine.train`, `pkg.config.rate`. None for local variables and for everything
    /// that is not of the project.
    pub fn denoted(&self, scope: ScopeId, expr: &Expr) -> Option<Denoted<'_>> {
        self.names().denoted(scope, expr)
    }

    /// The class that an expression denotes, seen from a scope.
    pub fn class_denoted(&self, scope: ScopeId, expr: &Expr) -> Option<ScopeId> {
        self.names().class_denoted(scope, expr)
    }

    /// The dotted library name that an expression denotes (`F.relu` → `torch.nn.functional.relu`), unless a variable
    /// of the same name may stand there.
    pub fn library_name(&self, scope: ScopeId, expr: &Expr) -> Option<Name> {
        self.names().library_name(scope, expr)
    }

    /// The scope of a module of the project.
    pub fn module_scope(&self, module: Name) -> Option<ScopeId> {
        self.index.modules.get(&module).copied()
    }

    /// The dotted name of the module that a scope lies in.
    pub fn module_name(&self, scope: ScopeId) -> Option<&str> {
        let module = self.scopes.module_of(scope);
        self.index.modules.iter().find(|&(_, &at)| at == module).map(|(name, _)| name.as_str())
    }

    /// Every method of this name.
    pub fn methods_named(&self, name: Name) -> &[ScopeId] {
        self.families.methods_named(name)
    }
}
