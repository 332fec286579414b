//! What the files of a project define: functions, classes with their methods and bases, imported names, and what is assigned to names.

use crate::ids::StmtId;
use crate::name::Name;
use crate::scopes::{Owner, ScopeId, Scopes};
use crate::syntax::File;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// A class of the project.
#[derive(Clone, Debug, Default)]
pub struct ClassInfo<'t> {
    /// Methods defined in its body.
    pub methods: FxHashMap<Name, ScopeId>,
    /// Base classes as written (`nn.Module`, `Base`).
    pub bases: Vec<&'t Expr>,
}

/// The definitions of a project: data, which says nothing of what a name means elsewhere.
#[derive(Debug, Default)]
pub struct Index<'t> {
    /// The scopes of its modules, by dotted name.
    pub(super) modules: FxHashMap<Name, ScopeId>,
    /// Their names, and those of the packages around them.
    packages: FxHashSet<Name>,
    /// The modules that a module imports with `*`, in order.
    pub(super) stars: FxHashMap<ScopeId, Vec<Name>>,
    /// Classes by their scope.
    pub classes: BTreeMap<ScopeId, ClassInfo<'t>>,
    /// Functions and classes. Several: defined on several branches.
    pub definitions: ByName<Vec<ScopeId>>,
    /// Imported names: the dotted name of the thing.
    pub imports: ByName<Name>,
    /// Values assigned to names.
    pub assigned: ByName<Vec<&'t Expr>>,
    /// Values assigned to attributes of `self`, by the scope of the class.
    pub attributes: ByName<Vec<&'t Expr>>,
    /// Names bound by something else than an import, a `def` or a `class`.
    pub variables: ByName<()>,
    /// Annotations of parameters.
    pub annotations: ByName<&'t Expr>,
    /// The functions that compute attributes, by the attribute's name.
    pub(super) properties: FxHashMap<Name, Vec<ScopeId>>,
}

/// Values by the scope that owns a name, and the name.
#[derive(Debug)]
pub struct ByName<V> {
    known: FxHashMap<(ScopeId, Name), V>,
}

impl<V> Default for ByName<V> {
    fn default() -> Self {
        Self { known: FxHashMap::default() }
    }
}

impl<V> ByName<V> {
    /// What a name of a scope has.
    pub fn get(&self, scope: ScopeId, name: Name) -> Option<&V> {
        self.known.get(&(scope, name))
    }

    /// Whether a name of a scope has anything.
    pub fn contains(&self, scope: ScopeId, name: Name) -> bool {
        self.get(scope, name).is_some()
    }

    /// What all names have, in no order.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.known.values()
    }

    fn insert(&mut self, scope: ScopeId, name: Name, value: V) {
        self.known.insert((scope, name), value);
    }
}

impl<T> ByName<Vec<T>> {
    fn push(&mut self, scope: ScopeId, name: Name, value: T) {
        self.known.entry((scope, name)).or_default().push(value);
    }
}

impl<'t> Index<'t> {
    /// Indexes files whose statements are numbered one after another.
    pub fn new(scopes: &Scopes<'t>, files: &[File]) -> Self {
        let packages = files.iter().flat_map(|file| and_around(&file.name)).map(Name::new).collect();
        let modules: FxHashMap<Name, ScopeId> =
            files.iter().zip(&scopes.modules).map(|(file, &scope)| (Name::new(&file.name), scope)).collect();
        let mut reader = Reader { scopes, index: Index { modules, packages, ..Index::default() } };
        for (id, scope) in scopes.list.enumerated() {
            reader.scope(id, &files[scope.file]);
        }
        reader.index
    }

    /// Whether a dotted name is a module or a package of the project; a package need not have a file of its own.
    pub(super) fn is_module(&self, dotted: Name) -> bool {
        self.packages.contains(&dotted)
    }
}

/// `a`, `a.b` and `a.b.c` of `a.b.c`.
fn and_around(dotted: &str) -> impl Iterator<Item = &str> {
    dotted.match_indices('.').map(|(end, _)| &dotted[..end]).chain([dotted])
}

struct Reader<'s, 't> {
    scopes: &'s Scopes<'t>,
    index: Index<'t>,
}

impl<'t> Reader<'_, 't> {
    fn scope(&mut self, id: ScopeId, file: &File) {
        let scope = &self.scopes.list[id];
        if let Owner::Class(class) = scope.owner {
            self.index.classes.entry(id).or_default().bases = class.bases.iter().collect();
        }
        if let Owner::Function(function) = scope.owner {
            for param in &function.params {
                self.index.variables.insert(id, param.name, ());
                if let Some(annotation) = &param.annotation {
                    self.index.annotations.insert(id, param.name, annotation);
                }
            }
        }
        walk::statements(scope.body, &mut |stmt| self.statement(id, stmt, file));
    }

    fn statement(&mut self, id: ScopeId, stmt: &'t Stmt, file: &File) {
        match &stmt.kind {
            StmtKind::Function(function) => self.define(id, stmt.id, function.name),
            StmtKind::Class(class) => self.define(id, stmt.id, class.name),
            StmtKind::Import(imports) => {
                for import in imports {
                    let dotted = file.absolute(&import.dotted);
                    let dotted = dotted.as_deref().unwrap_or(&import.dotted);
                    if import.local == "*" {
                        let module = Name::new(dotted.trim_end_matches(".*"));
                        self.index.stars.entry(self.scopes.module_of(id)).or_default().push(module);
                        continue;
                    }
                    let home = self.home(id, import.local);
                    self.index.imports.insert(home, import.local, Name::new(dotted));
                }
            }
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    self.assign(id, target, value);
                }
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => self.assign(id, target, value),
            StmtKind::With { items, .. } => {
                for (value, target) in items {
                    if let Some(target) = target {
                        self.assign(id, target, value);
                    }
                }
            }
            _ => {}
        }
        if !matches!(stmt.kind, StmtKind::Import(_) | StmtKind::Function(_) | StmtKind::Class(_)) {
            crate::scopes::bound_names(stmt, &mut |name| {
                let home = self.home(id, name);
                self.index.variables.insert(home, name, ());
            });
        }
    }

    /// The scope that owns a name bound in scope `id` (`global` and `nonlocal` send it elsewhere).
    fn home(&self, id: ScopeId, name: Name) -> ScopeId {
        self.scopes.resolve(id, name).unwrap_or(id)
    }

    fn define(&mut self, id: ScopeId, stmt: StmtId, name: Name) {
        let Some(&scope) = self.scopes.of_statement.get(&stmt) else { return };
        let home = self.home(id, name);
        self.index.definitions.push(home, name, scope);
        if matches!(self.scopes.list[scope].owner, Owner::Class(_)) {
            self.index.classes.entry(scope).or_default();
        } else if let Some(class) = self.index.classes.get_mut(&id) {
            class.methods.insert(name, scope);
            if let Owner::Function(function) = self.scopes.list[scope].owner
                && function.decorators.iter().any(makes_property)
            {
                self.index.properties.entry(name).or_default().push(scope);
            }
        }
    }

    fn assign(&mut self, id: ScopeId, target: &'t Expr, value: &'t Expr) {
        match (&target.kind, &value.kind) {
            (ExprKind::Name(name), _) => {
                let home = self.home(id, *name);
                self.index.assigned.push(home, *name, value);
            }
            (ExprKind::Attribute { value: object, attr }, _) => {
                if let (ExprKind::Name(root), Some(class)) = (&object.kind, self.scopes.class_of(id))
                    && self.scopes.self_name(id) == Some(*root)
                {
                    self.index.attributes.push(class, *attr, value);
                }
            }
            (ExprKind::Display { items: left, .. }, ExprKind::Display { items: right, .. })
                if left.len() == right.len() =>
            {
                left.iter().zip(right).for_each(|(target, value)| self.assign(id, target, value));
            }
            (ExprKind::Display { items, .. }, _) => {
                items.iter().for_each(|item| self.assign(id, item, value));
            }
            _ => {}
        }
    }
}

/// `@property`, `@cached_property`, `@name.setter`.
fn makes_property(decorator: &Expr) -> bool {
    dotted(decorator)
        .is_some_and(|name| matches!(name.rsplit('.').next(), Some("property" | "cached_property" | "setter")))
}

/// `a.b.c` as text.
pub(crate) fn dotted(expr: &Expr) -> Option<Name> {
    match &expr.kind {
        ExprKind::Name(name) => Some(*name),
        ExprKind::Attribute { value, attr } => dotted(value).map(|base| base.dotted(*attr)),
        _ => None,
    }
}
