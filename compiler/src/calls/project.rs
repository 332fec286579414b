//! What the files of a project define: functions, classes with their methods and bases, imported names, and the classes of variables.

use super::link::Denoted;
use crate::scopes::{Owner, ScopeId, Scopes, is_builtin};
use crate::syntax::File;
use crate::syntax::tree::{Call, Expr, ExprKind, Literal, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::{BTreeMap, BTreeSet};

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
    pub definitions: BTreeMap<(ScopeId, String), Vec<ScopeId>>,
    /// Imported names: the scope that binds them and the name, to the dotted name of the thing.
    pub imports: BTreeMap<(ScopeId, String), String>,
    /// Values assigned to names, by scope and name; attributes of `self` under the class's scope as `self.x`.
    pub assigned: BTreeMap<(ScopeId, String), Vec<&'t Expr>>,
    /// Names bound by something else than an import, a `def` or a `class`.
    pub variables: BTreeSet<(ScopeId, String)>,
    /// Annotations of parameters.
    pub annotations: BTreeMap<(ScopeId, String), &'t Expr>,
    /// Names of attributes that a class computes.
    properties: BTreeSet<String>,
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
            definitions: BTreeMap::new(),
            imports: BTreeMap::new(),
            assigned: BTreeMap::new(),
            variables: BTreeSet::new(),
            annotations: BTreeMap::new(),
            properties: BTreeSet::new(),
        };
        for id in 0..project.scopes.list.len() {
            project.index_scope(id, &files[project.scopes.list[id].file]);
        }
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
                self.properties.insert(name.to_owned());
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

    /// The name of a method's first parameter.
    pub fn self_name(&self, scope: ScopeId) -> Option<&str> {
        self.scopes.class_of(scope)?;
        self.scopes.list[scope].params().first().copied()
    }

    /// A method by name, looked up through the bases that the file defines.
    pub fn method(&self, class: ScopeId, name: &str) -> Option<ScopeId> {
        self.with_bases(class).into_iter().find_map(|at| self.classes.get(&at)?.methods.get(name).copied())
    }

    /// The methods that `object.name` may run when the object is of a class or of one derived from it.
    pub fn methods(&self, class: ScopeId, name: &str) -> Vec<ScopeId> {
        let derived = self.classes.iter().filter(|&(&at, _)| at != class && self.with_bases(at).contains(&class));
        let overriding = derived.filter_map(|(_, info)| info.methods.get(name).copied());
        let mut found: Vec<ScopeId> = self.method(class, name).into_iter().chain(overriding).collect();
        found.dedup();
        found
    }

    /// What `super().name` runs inside a method.
    pub fn inherited(&self, scope: ScopeId, name: &str) -> Option<ScopeId> {
        let class = self.scopes.class_of(scope)?;
        let bases = self.with_bases(class).into_iter().skip(1);
        bases.filter_map(|at| self.classes.get(&at)).find_map(|info| info.methods.get(name).copied())
    }

    /// The getters and setters that an attribute may run: of the object's class, if that is known, else of any class.
    pub fn accessors(&self, class: Option<ScopeId>, attr: &str) -> Vec<ScopeId> {
        let classes: Vec<ScopeId> = match class {
            Some(class) => self.classes.keys().copied().filter(|&at| self.with_bases(at).contains(&class)).collect(),
            None => self.classes.keys().copied().collect(),
        };
        let all = classes.into_iter().flat_map(|at| self.with_bases(at));
        let found: BTreeSet<ScopeId> =
            all.filter_map(|at| self.definitions.get(&(at, attr.to_owned()))).flatten().copied().collect();
        found.into_iter().collect()
    }

    /// Whether some class of the file computes the attribute: reading it, or assigning it, runs a function.
    pub fn is_property(&self, attr: &str) -> bool {
        self.properties.contains(attr)
    }

    /// The values that the methods of a class, or of its bases in the file, assign to an attribute of `self`.
    pub fn attribute_values(&self, class: ScopeId, attr: &str) -> Option<&Vec<&'t Expr>> {
        let key = format!("self.{attr}");
        self.with_bases(class).into_iter().find_map(|at| self.assigned.get(&(at, key.clone())))
    }

    /// A class and the bases of it that the file defines, nearest first.
    fn with_bases(&self, class: ScopeId) -> Vec<ScopeId> {
        let mut found = vec![class];
        let mut at = 0;
        while let Some(info) = found.get(at).and_then(|class| self.classes.get(class)) {
            let around = found.get(at).and_then(|&class| self.scopes.list[class].parent).unwrap_or_default();
            for base in info.bases.iter().filter_map(|base| self.class_denoted(around, base)) {
                if !found.contains(&base) {
                    found.push(base);
                }
            }
            at += 1;
        }
        found
    }

    /// The class that an expression denotes, seen from a scope.
    pub fn class_denoted(&self, scope: ScopeId, expr: &Expr) -> Option<ScopeId> {
        let found = match &expr.kind {
            // A class that is bound again under its name (`Net = compile(Net)`) is still meant.
            ExprKind::Name(name) => {
                let home = self.scopes.resolve(scope, name);
                home.and_then(|home| self.definitions.get(&(home, name.clone()))).cloned()
            }
            // `x: "Net"`
            ExprKind::Constant(Literal::Str(name)) => {
                let home = self.scopes.resolve(scope, name)?;
                self.definitions.get(&(home, name.clone())).cloned()
            }
            _ => None,
        };
        let found = found.or_else(|| match self.denoted(scope, expr) {
            Some(Denoted::Definitions(found)) => Some(found),
            _ => None,
        });
        found?.into_iter().find(|id| self.classes.contains_key(id))
    }

    /// The class of the object that an expression yields, where one assignment settles it.
    pub fn class_of_value(&self, scope: ScopeId, expr: &Expr) -> Option<ScopeId> {
        self.class_within(scope, expr, 8)
    }

    fn class_within(&self, scope: ScopeId, expr: &Expr, fuel: usize) -> Option<ScopeId> {
        let fuel = fuel.checked_sub(1)?;
        match &expr.kind {
            ExprKind::Name(name) => {
                if self.self_name(scope) == Some(name.as_str()) {
                    return self.scopes.class_of(scope);
                }
                let home = self.scopes.resolve(scope, name)?;
                let key = (home, name.clone());
                if let Some(annotation) = self.annotations.get(&key) {
                    return self.class_denoted(home, annotation);
                }
                self.single_class(home, self.assigned.get(&key)?, fuel)
            }
            ExprKind::Attribute { value, attr } => {
                let class = self.class_within(scope, value, fuel)?;
                let values = self.attribute_values(class, attr)?;
                let init = self.method(class, "__init__").unwrap_or(class);
                self.single_class(init, values, fuel)
            }
            ExprKind::Call(call) => self.class_constructed(scope, call, fuel),
            _ => None,
        }
    }

    fn single_class(&self, scope: ScopeId, values: &[&Expr], fuel: usize) -> Option<ScopeId> {
        let mut classes = values.iter().map(|value| self.class_within(scope, value, fuel));
        let first = classes.next()??;
        classes.all(|class| class == Some(first)).then_some(first)
    }

    /// `Net(…)`, and `Net(…).to(device)`: methods that return their receiver keep its class.
    fn class_constructed(&self, scope: ScopeId, call: &Call, fuel: usize) -> Option<ScopeId> {
        if let Some(class) = self.class_denoted(scope, &call.callee) {
            return Some(class);
        }
        match &call.callee.kind {
            ExprKind::Attribute { value, attr }
                if matches!(attr.as_str(), "to" | "cuda" | "cpu" | "train" | "eval" | "double" | "float" | "half") =>
            {
                self.class_within(scope, value, fuel)
            }
            _ => None,
        }
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
