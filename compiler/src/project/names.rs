//! What a name or a dotted name denotes in the project, across its files.

use super::index::Index;
use crate::name::Name;
use crate::scopes::{ScopeId, Scopes, is_builtin};
use crate::syntax::tree::{Expr, ExprKind, Literal};

/// Something of the project that a name denotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denoted<'p> {
    /// Functions or classes; several when the name is defined on several branches.
    Definitions(&'p [ScopeId]),
    /// A module or package, by its dotted name.
    Module(Name),
    /// A variable of a module.
    Variable(ScopeId, Name),
}

/// Longest chain of re-exports that is followed.
const MAX_LINKS: usize = 16;

/// What names mean, by what the project defines.
#[derive(Clone, Copy)]
pub(super) struct Names<'p, 't> {
    pub scopes: &'p Scopes<'t>,
    pub index: &'p Index<'t>,
}

impl<'p> Names<'p, '_> {
    /// What an expression denotes: `train`, `engine.train`, `pkg.config.rate`. None for local variables and for everything
    /// that is not of the project.
    pub fn denoted(&self, scope: ScopeId, expr: &Expr) -> Option<Denoted<'p>> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let Some(home) = self.scopes.resolve(scope, *name) else {
                    return self.starred(self.scopes.module_of(scope), *name, MAX_LINKS);
                };
                if self.index.variables.contains(home, *name) {
                    return None;
                }
                match self.index.definitions.get(home, *name) {
                    Some(found) => Some(Denoted::Definitions(found)),
                    None => self.linked(*self.index.imports.get(home, *name)?, MAX_LINKS),
                }
            }
            ExprKind::Attribute { value, attr } => match self.denoted(scope, value)? {
                Denoted::Module(module) => self.member(module, *attr, MAX_LINKS),
                _ => None,
            },
            _ => None,
        }
    }

    /// What a dotted name, as an import spells it, denotes.
    fn linked(&self, dotted: Name, fuel: usize) -> Option<Denoted<'p>> {
        if self.index.is_module(dotted) {
            return Some(Denoted::Module(dotted));
        }
        let (module, name) = dotted.as_str().rsplit_once('.')?;
        match self.linked(Name::new(module), fuel.checked_sub(1)?)? {
            Denoted::Module(module) => self.member(module, Name::new(name), fuel - 1),
            _ => None,
        }
    }

    /// What a module of the project calls `name`.
    fn member(&self, module: Name, name: Name, fuel: usize) -> Option<Denoted<'p>> {
        let fuel = fuel.checked_sub(1)?;
        let submodule = || {
            let dotted = module.dotted(name);
            self.index.is_module(dotted).then_some(Denoted::Module(dotted))
        };
        let Some(&scope) = self.index.modules.get(&module) else { return submodule() };
        if self.index.variables.contains(scope, name) {
            return Some(Denoted::Variable(scope, name));
        }
        if let Some(found) = self.index.definitions.get(scope, name) {
            return Some(Denoted::Definitions(found));
        }
        if let Some(dotted) = self.index.imports.get(scope, name) {
            return self.linked(*dotted, fuel);
        }
        submodule().or_else(|| self.starred(scope, name, fuel))
    }

    /// What `from module import *` gives a module under this name.
    fn starred(&self, scope: ScopeId, name: Name, fuel: usize) -> Option<Denoted<'p>> {
        let fuel = fuel.checked_sub(1)?;
        let sources = self.index.stars.get(&scope)?;
        sources.iter().rev().find_map(|module| match self.linked(*module, fuel)? {
            Denoted::Module(module) if !name.starts_with('_') => self.member(module, name, fuel),
            _ => None,
        })
    }

    /// The dotted library name that an expression denotes (`F.relu` → `torch.nn.functional.relu`), unless a variable
    /// of the same name may stand there.
    pub fn library_name(&self, scope: ScopeId, expr: &Expr) -> Option<Name> {
        let is_script_alone = self.index.modules.len() <= 1;
        if !is_script_alone && self.denoted(scope, expr).is_some() {
            return None;
        }
        match &expr.kind {
            ExprKind::Name(name) => match self.scopes.resolve(scope, *name) {
                Some(home) => {
                    let found = self.index.imports.get(home, *name)?;
                    let shadowed =
                        self.index.variables.contains(home, *name) || self.index.definitions.contains(home, *name);
                    (!shadowed).then_some(*found)
                }
                // Anything else that no scope binds is a star import's, or defined by the code around: it may be anything.
                None => is_builtin(*name).then(|| Name::new("builtins").dotted(*name)),
            },
            ExprKind::Attribute { value, attr } => self.library_name(scope, value).map(|base| base.dotted(*attr)),
            _ => None,
        }
    }

    /// The class that an expression denotes, seen from a scope.
    pub fn class_denoted(&self, scope: ScopeId, expr: &Expr) -> Option<ScopeId> {
        let found = match &expr.kind {
            // A class that is bound again under its name (`Net = compile(Net)`) is still meant.
            ExprKind::Name(name) => {
                let home = self.scopes.resolve(scope, *name);
                home.and_then(|home| self.index.definitions.get(home, *name))
            }
            // `x: "Net"`
            ExprKind::Constant(Literal::Str(name)) => {
                let name = Name::known(name)?;
                let home = self.scopes.resolve(scope, name)?;
                self.index.definitions.get(home, name)
            }
            _ => None,
        };
        let found = found.map(Vec::as_slice).or_else(|| match self.denoted(scope, expr) {
            Some(Denoted::Definitions(found)) => Some(found),
            _ => None,
        });
        found?.iter().copied().find(|id| self.index.classes.contains_key(id))
    }
}
