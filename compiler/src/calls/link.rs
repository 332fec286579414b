//! What a name or a dotted name denotes in the project, across its files.

use super::project::Project;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Expr, ExprKind};

/// Something of the project that a name denotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denoted {
    /// Functions or classes; several when the name is defined on several branches.
    Definitions(Vec<ScopeId>),
    /// A module or package, by its dotted name.
    Module(String),
    /// A variable of a module.
    Variable(ScopeId, String),
}

/// Longest chain of re-exports that is followed.
const MAX_LINKS: usize = 16;

impl Project<'_> {
    /// What an expression denotes: `train`, `engine.train`, `pkg.config.rate`. None for local variables and for everything
    /// that is not of the project.
    pub fn denoted(&self, scope: ScopeId, expr: &Expr) -> Option<Denoted> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let Some(home) = self.scopes.resolve(scope, name) else {
                    return self.starred(self.scopes.module_of(scope), name, MAX_LINKS);
                };
                let key = (home, name.clone());
                if self.variables.contains(&key) {
                    return None;
                }
                match self.definitions.get(&key) {
                    Some(found) => Some(Denoted::Definitions(found.clone())),
                    None => self.linked(self.imports.get(&key)?, MAX_LINKS),
                }
            }
            ExprKind::Attribute { value, attr } => match self.denoted(scope, value)? {
                Denoted::Module(module) => self.member(&module, attr, MAX_LINKS),
                _ => None,
            },
            _ => None,
        }
    }

    /// The scope of a module of the project.
    pub fn module_scope(&self, module: &str) -> Option<ScopeId> {
        self.by_name.get(module).copied()
    }

    /// What a dotted name, as an import spells it, denotes.
    fn linked(&self, dotted: &str, fuel: usize) -> Option<Denoted> {
        if self.is_module(dotted) {
            return Some(Denoted::Module(dotted.to_owned()));
        }
        let (module, name) = dotted.rsplit_once('.')?;
        match self.linked(module, fuel.checked_sub(1)?)? {
            Denoted::Module(module) => self.member(&module, name, fuel - 1),
            _ => None,
        }
    }

    /// What a module of the project calls `name`.
    fn member(&self, module: &str, name: &str, fuel: usize) -> Option<Denoted> {
        let fuel = fuel.checked_sub(1)?;
        let submodule = || {
            let dotted = format!("{module}.{name}");
            self.is_module(&dotted).then_some(Denoted::Module(dotted))
        };
        let Some(scope) = self.module_scope(module) else { return submodule() };
        let key = (scope, name.to_owned());
        if self.variables.contains(&key) {
            return Some(Denoted::Variable(scope, name.to_owned()));
        }
        if let Some(found) = self.definitions.get(&key) {
            return Some(Denoted::Definitions(found.clone()));
        }
        if let Some(dotted) = self.imports.get(&key) {
            return self.linked(dotted, fuel);
        }
        submodule().or_else(|| self.starred(scope, name, fuel))
    }

    /// What `from module import *` gives a module under this name.
    fn starred(&self, scope: ScopeId, name: &str, fuel: usize) -> Option<Denoted> {
        let fuel = fuel.checked_sub(1)?;
        let sources = self.stars.get(&scope)?;
        sources.iter().rev().find_map(|module| match self.linked(module, fuel)? {
            Denoted::Module(module) if !name.starts_with('_') => self.member(&module, name, fuel),
            _ => None,
        })
    }

    /// Whether a dotted name is a module or a package of the project; a package need not have a file of its own.
    fn is_module(&self, dotted: &str) -> bool {
        self.by_name.contains_key(dotted)
            || self
                .by_name
                .range(format!("{dotted}.")..)
                .next()
                .is_some_and(|(name, _)| name.starts_with(dotted) && name.as_bytes().get(dotted.len()) == Some(&b'.'))
    }
}
