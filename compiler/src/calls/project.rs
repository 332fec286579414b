//! What the files of a project define: functions, classes with their methods and bases, imported names, and the classes of variables.

use super::classes::Families;
use crate::scopes::{Owner, ScopeId, Scopes, is_builtin};
use crate::syntax::File;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A class of the project.
#[derive(Clone, Debug, Default)]
pub struct ClassInfo<'t> {
    /// Methods defined in its body.
    pub methods: BTreeMap<String, ScopeId>,
    /// Base classes as written (`nn.Module`, `Base`).
    pub bases: Vec<&'t Expr>,
}

/// The definitions of a project, indexed.
#[derive(Debug)]
pub struct Project<'t> {
    /// Its scopes.
    pub scopes: Scopes<'t>,
    /// The scopes of its modules, by dotted name.
    pub(super) by_name: BTreeMap<String, ScopeId>,
    /// The modules that a module imports with `*`, in order.
    pub(super) stars: BTreeMap<ScopeId, Vec<String>>,
    /// Classes by their scope.
    pub classes: BTreeMap<ScopeId, ClassInfo<'t>>,
    /// Functions and classes by the scope that binds them and their name. Several: defined on several branches.
    pub definitions: HashMap<(ScopeId, String), Vec<ScopeId>>,
    /// Imported names: the scope that binds them and the name, to the dotted name of the thing.
    pub imports: HashMap<(ScopeId, String), String>,
    /// Values assigned to names, by scope and name; attributes of `self` under the class's scope as `self.x`.
    pub assigned: HashMap<(ScopeId, String), Vec<&'t Expr>>,
    /// Names bound by something else than an import, a `def` or a `class`.
    pub variables: HashSet<(ScopeId, String)>,
    /// Annotations of parameters.
    pub annotations: HashMap<(ScopeId, String), &'t Expr>,
    /// The functions that compute attributes, by the attribute's name.
    pub(super) properties: BTreeMap<String, Vec<ScopeId>>,
    pub(super) families: Families,
}

impl<'t> Project<'t> {
    /// Indexes files whose statements are numbered one after another.
    pub fn new(files: &'t [File]) -> Self {
        let scopes = Scopes::new(files.iter().map(|file| &file.module));
        let by_name = files.iter().zip(&scopes.modules).map(|(file, &scope)| (file.name.clone(), scope)).collect();
        let mut project = Project {
            scopes,
            by_name,
            stars: BTreeMap::new(),
            classes: BTreeMap::new(),
            definitions: HashMap::new(),
            imports: HashMap::new(),
            assigned: HashMap::new(),
            variables: HashSet::new(),
            annotations: HashMap::new(),
            properties: BTreeMap::new(),
            families: Families::default(),
        };
        for id in 0..project.scopes.list.len() {
            project.index_scope(id, &files[project.scopes.list[id].file]);
        }
        project.families = Families::new(&project);
        project
    }

    fn index_scope(&mut self, id: ScopeId, file: &File) {
        let scope = &self.scopes.list[id];
        let body = scope.body;
        if let Owner::Class(class) = scope.owner {
            let bases = class.bases.iter().collect();
            self.classes.entry(id).or_default().bases = bases;
        }
        if let Owner::Function(function) = scope.owner {
            for param in &function.params {
                self.variables.insert((id, param.name.clone()));
                if let Some(annotation) = &param.annotation {
                    self.annotations.insert((id, param.name.clone()), annotation);
                }
            }
        }
        let mut found = Vec::new();
        walk::statements(body, &mut |stmt| found.push(stmt));
        for stmt in found {
            self.index_statement(id, stmt, file);
        }
    }

    fn index_statement(&mut self, id: ScopeId, stmt: &'t Stmt, file: &File) {
        match &stmt.kind {
            StmtKind::Function(function) => self.define(id, stmt.id, &function.name),
            StmtKind::Class(class) => self.define(id, stmt.id, &class.name),
            StmtKind::Import(imports) => {
                for import in imports {
                    let dotted = file.absolute(&import.dotted).unwrap_or_else(|| import.dotted.clone());
                    if import.local == "*" {
                        let module = dotted.trim_end_matches(".*").to_owned();
                        self.stars.entry(self.scopes.module_of(id)).or_default().push(module);
                        continue;
                    }
                    let home = self.home(id, &import.local);
                    self.imports.insert((home, import.local.clone()), dotted);
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
        let mut names = Vec::new();
        if !matches!(stmt.kind, StmtKind::Import(_) | StmtKind::Function(_) | StmtKind::Class(_)) {
            crate::scopes::bound_names(stmt, &mut |name| names.push(name.to_owned()));
        }
        for name in names {
            let home = self.home(id, &name);
            self.variables.insert((home, name));
        }
    }

    /// The scope that owns a name bound in scope `id` (`global` and `nonlocal` send it elsewhere).
    fn home(&self, id: ScopeId, name: &str) -> ScopeId {
        self.scopes.resolve(id, name).unwrap_or(id)
    }

    fn define(&mut self, id: ScopeId, stmt: usize, name: &str) {
        let Some(&scope) = self.scopes.of_statement.get(&stmt) else { return };
        let home = self.home(id, name);
        self.definitions.entry((home, name.to_owned())).or_default().push(scope);
        if matches!(self.scopes.list[scope].owner, Owner::Class(_)) {
            self.classes.entry(scope).or_default();
        } else if let Some(class) = self.classes.get_mut(&id) {
            class.methods.insert(name.to_owned(), scope);
            if let Owner::Function(function) = self.scopes.list[scope].owner
                && function.decorators.iter().any(makes_property)
            {
                self.properties.entry(name.to_owned()).or_default().push(scope);
            }
        }
    }

    fn assign(&mut self, id: ScopeId, target: &'t Expr, value: &'t Expr) {
        match (&target.kind, &value.kind) {
            (ExprKind::Name(name), _) => {
                let home = self.home(id, name);
                self.assigned.entry((home, name.clone())).or_default().push(value);
            }
            (ExprKind::Attribute { value: object, attr }, _) => {
                if let (ExprKind::Name(root), Some(class)) = (&object.kind, self.scopes.class_of(id))
                    && self.self_name(id) == Some(root)
                {
                    self.assigned.entry((class, format!("self.{attr}"))).or_default().push(value);
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

    /// The dotted name of the module that a scope lies in.
    pub fn module_name(&self, scope: ScopeId) -> Option<&str> {
        let module = self.scopes.module_of(scope);
        self.by_name.iter().find(|&(_, &at)| at == module).map(|(name, _)| name.as_str())
    }

    /// Whether there are other files than the script.
    fn has_files(&self) -> bool {
        self.by_name.len() > 1
    }

    /// The dotted library name that an expression denotes (`F.relu` → `torch.nn.functional.relu`), unless a variable
    /// of the same name may stand there.
    pub fn library_name(&self, scope: ScopeId, expr: &Expr) -> Option<String> {
        if self.has_files() && self.denoted(scope, expr).is_some() {
            return None;
        }
        match &expr.kind {
            ExprKind::Name(name) => match self.scopes.resolve(scope, name) {
                Some(home) => {
                    let key = (home, name.clone());
                    let shadowed = self.variables.contains(&key) || self.definitions.contains_key(&key);
                    (!shadowed).then(|| self.imports.get(&key).cloned()).flatten()
                }
                // Anything else that no scope binds is a star import's, or defined by the code around: it may be anything.
                None => is_builtin(name).then(|| format!("builtins.{name}")),
            },
            ExprKind::Attribute { value, attr } => self.library_name(scope, value).map(|base| format!("{base}.{attr}")),
            _ => None,
        }
    }
}

/// `@property`, `@cached_property`, `@name.setter`.
fn makes_property(decorator: &Expr) -> bool {
    let name = dotted(decorator).unwrap_or_default();
    matches!(name.rsplit('.').next(), Some("property" | "cached_property" | "setter"))
}

/// `a.b.c` as text.
pub(crate) fn dotted(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name.clone()),
        ExprKind::Attribute { value, attr } => dotted(value).map(|base| format!("{base}.{attr}")),
        _ => None,
    }
}
