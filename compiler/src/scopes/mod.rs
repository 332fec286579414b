//! Who binds which name, where.

mod builtins;
mod names;
mod texts;

pub use builtins::is_builtin;
pub use names::{bound_names, reads, target_names, targets};
pub use texts::{ScopeText, own_names};

use crate::ids::{FileId, Id, IdVec, StmtId};
use crate::name::Name;
use crate::source::Range;
use crate::syntax::tree::{Class, Expr, ExprKind, Function, Literal, Module, Stmt, StmtKind};
use crate::syntax::walk;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

pub use crate::ids::ScopeId;

/// What a scope belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Owner<'t> {
    /// The file.
    Module,
    /// A function or method.
    Function(&'t Function),
    /// A class body.
    Class(&'t Class),
}

/// One scope.
#[derive(Clone, Debug)]
pub struct Scope<'t> {
    /// What it belongs to.
    pub owner: Owner<'t>,
    /// The file it is in.
    pub file: FileId,
    /// The scope around it; a module has none.
    pub parent: Option<ScopeId>,
    /// Dotted name within the file: `Trainer.fit`; empty for the module.
    pub qualname: Name,
    /// Its statements.
    pub body: &'t [Stmt],
    /// Names bound here, parameters included: how many statements bind each of them; a parameter list is one.
    pub bound: FxHashMap<Name, usize>,
    /// Names declared `global` here.
    pub globals: BTreeSet<Name>,
    /// Names declared `nonlocal` here.
    pub nonlocals: BTreeSet<Name>,
    /// Names of this scope that scopes inside it use.
    pub captured: FxHashSet<Name>,
    /// Names of this scope in texts that it hands to what looks names up: `df.query("a > @limit")`, `duckdb.sql("FROM table")`.
    pub told: FxHashSet<Name>,
    /// Where the scope can see or change names by computed text (`exec`, `eval`, `globals`, `locals`, `vars`).
    pub dynamic: Option<Range>,
    /// Whether its body holds `yield` or `await`.
    pub suspends: bool,
    /// Whether it mentions what the frames of others are read by.
    pub reads_frames: bool,
}

/// By these, code reads the names of frames: its own, and those of whoever calls it.
const OF_FRAMES: [&str; 9] = [
    "_getframe",
    "currentframe",
    "f_locals",
    "f_globals",
    "f_back",
    "gi_frame",
    "tb_frame",
    "__globals__",
    "getinnerframes",
];
/// Methods that take a text in which names of the caller stand: of pandas, DuckDB, polars, numexpr.
const LOOK_UP: [&str; 6] = ["query", "eval", "sql", "evaluate", "execute", "from_query"];

impl Scope<'_> {
    /// The names of its parameters, in order.
    pub fn params(&self) -> impl Iterator<Item = Name> {
        let params = match self.owner {
            Owner::Function(function) => function.params.as_slice(),
            _ => &[],
        };
        params.iter().map(|param| param.name)
    }
}

/// All scopes of a project.
#[derive(Clone, Debug, Default)]
pub struct Scopes<'t> {
    /// File by file, in source order; the module first.
    pub list: IdVec<ScopeId, Scope<'t>>,
    /// The scope of each file's module.
    pub modules: IdVec<FileId, ScopeId>,
    /// From the number of a `def` or `class` statement to its scope.
    pub of_statement: BTreeMap<StmtId, ScopeId>,
    /// From the number of a statement to the scope it stands in.
    holders: IdVec<StmtId, ScopeId>,
    statements: IdVec<StmtId, &'t Stmt>,
    /// Behind the last scope inside each.
    ends: IdVec<ScopeId, ScopeId>,
    /// Whether some file reads the names of frames, which may be those of any function.
    pub reads_frames: bool,
    texts: IdVec<ScopeId, OnceLock<ScopeText>>,
}

impl<'t> Scopes<'t> {
    /// Finds every scope of these files, whose statements are numbered one after another.
    pub fn new(files: impl IntoIterator<Item = &'t Module>) -> Self {
        let mut scopes = Scopes::default();
        for module in files {
            let file = scopes.modules.push(ScopeId::new(scopes.list.len()));
            scopes.add(file, Owner::Module, None, Name::NONE, &module.body);
        }
        scopes.mark_captures();
        scopes.reads_frames = scopes.list.iter().any(|scope| scope.reads_frames);
        scopes.texts = scopes.list.iter().map(|_| OnceLock::new()).collect();
        scopes
    }

    /// What the text of a scope says about names.
    pub fn text(&self, id: ScopeId) -> &ScopeText {
        self.texts[id].get_or_init(|| ScopeText::new(self.list[id].body))
    }

    fn add(
        &mut self,
        file: FileId,
        owner: Owner<'t>,
        parent: Option<ScopeId>,
        qualname: Name,
        body: &'t [Stmt],
    ) -> ScopeId {
        let id = self.list.push(own_facts(file, owner, parent, qualname, body));
        self.ends.push(id.next());
        walk::statements(body, &mut |stmt| {
            *self.holders.or_insert_with(stmt.id, || id) = id;
            *self.statements.or_insert_with(stmt.id, || stmt) = stmt;
            let (owner, name, body) = match &stmt.kind {
                StmtKind::Function(function) => (Owner::Function(function), &function.name, &function.body),
                StmtKind::Class(class) => (Owner::Class(class), &class.name, &class.body),
                _ => return,
            };
            let inner = if qualname.is_empty() { *name } else { qualname.dotted(*name) };
            let scope = self.add(file, owner, Some(id), inner, body);
            self.of_statement.insert(stmt.id, scope);
        });
        self.ends[id] = ScopeId::new(self.list.len());
        id
    }

    /// The scope that the statement numbered `stmt` stands in.
    pub fn holder(&self, stmt: StmtId) -> ScopeId {
        self.holders[stmt]
    }

    /// The statement with a number.
    pub fn statement(&self, stmt: StmtId) -> &'t Stmt {
        self.statements[stmt]
    }

    /// Whether a scope is a file's own.
    pub fn is_module(&self, scope: ScopeId) -> bool {
        self.list[scope].parent.is_none()
    }

    /// The module that a scope lies in.
    pub fn module_of(&self, scope: ScopeId) -> ScopeId {
        self.modules[self.list[scope].file]
    }

    /// The scope that owns `name` as seen from `scope`; `None` for builtins and names bound nowhere in the file.
    pub fn resolve(&self, scope: ScopeId, name: Name) -> Option<ScopeId> {
        let here = &self.list[scope];
        if here.globals.contains(&name) {
            return Some(self.module_of(scope));
        }
        if here.bound.contains_key(&name) && !here.nonlocals.contains(&name) {
            return Some(scope);
        }
        let mut at = here.parent;
        while let Some(id) = at {
            let outer = &self.list[id];
            let visible = !matches!(outer.owner, Owner::Class(_));
            if visible && outer.globals.contains(&name) {
                return Some(self.module_of(scope));
            }
            if visible && outer.bound.contains_key(&name) && !outer.nonlocals.contains(&name) {
                return Some(id);
            }
            at = outer.parent;
        }
        None
    }

    /// A scope and those inside it: all that may name what it owns.
    pub fn and_inside(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> + use<'t> {
        (scope.place()..self.ends[scope].place()).map(ScopeId::new)
    }

    /// A scope and those around it, innermost first.
    pub fn ancestors(&self, scope: ScopeId) -> impl Iterator<Item = ScopeId> {
        std::iter::successors(Some(scope), |&at| self.list[at].parent)
    }

    /// The class around a method's scope.
    pub fn class_of(&self, scope: ScopeId) -> Option<ScopeId> {
        let parent = self.list[scope].parent?;
        matches!(self.list[parent].owner, Owner::Class(_)).then_some(parent)
    }

    /// The name of a method's first parameter.
    pub fn self_name(&self, scope: ScopeId) -> Option<Name> {
        self.class_of(scope)?;
        self.list[scope].params().next()
    }

    fn mark_captures(&mut self) {
        let mut captures = Vec::new();
        for (id, scope) in self.list.enumerated() {
            let mut note = |name: Name| {
                if let Some(home) = self.resolve(id, name).filter(|&home| home != id) {
                    captures.push((home, name));
                }
            };
            walk::statements(scope.body, &mut |stmt| {
                for expr in walk::own_expressions(stmt) {
                    reads(expr, &mut |name, _| note(name));
                }
                bound_names(stmt, &mut |name| note(name));
            });
        }
        for (home, name) in captures {
            self.list[home].captured.insert(name);
        }
    }
}

fn own_facts<'t>(
    file: FileId,
    owner: Owner<'t>,
    parent: Option<ScopeId>,
    qualname: Name,
    body: &'t [Stmt],
) -> Scope<'t> {
    let mut scope = Scope {
        owner,
        file,
        parent,
        qualname,
        body,
        bound: FxHashMap::default(),
        globals: BTreeSet::new(),
        nonlocals: BTreeSet::new(),
        captured: FxHashSet::default(),
        told: FxHashSet::default(),
        dynamic: None,
        reads_frames: false,
        suspends: matches!(owner, Owner::Function(function) if function.is_async),
    };
    let mut looked_up: BTreeSet<String> = BTreeSet::new();
    if let Owner::Function(function) = owner {
        scope.bound.extend(function.params.iter().map(|param| (param.name, 1)));
    }
    walk::statements(body, &mut |stmt| {
        match &stmt.kind {
            StmtKind::Global(names) => scope.globals.extend(names),
            StmtKind::Nonlocal(names) => scope.nonlocals.extend(names),
            _ => {}
        }
        bound_names(stmt, &mut |name| {
            *scope.bound.entry(name).or_default() += 1;
        });
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                match &part.kind {
                    ExprKind::Call(call) => {
                        if let ExprKind::Name(name) = &call.callee.kind
                            && matches!(name.as_str(), "exec" | "eval" | "globals" | "locals" | "vars" | "dir")
                            // `vars(args)` is about its argument only.
                            && (!matches!(name.as_str(), "vars" | "dir") || call.args.is_empty())
                        {
                            scope.dynamic.get_or_insert(part.range);
                        }
                        if let ExprKind::Attribute { attr, .. } = &call.callee.kind
                            && LOOK_UP.contains(&attr.as_str())
                        {
                            call.args.iter().for_each(|text| looked_up.extend(texts_in(text)));
                        }
                    }
                    ExprKind::Attribute { attr: name, .. } | ExprKind::Name(name) => {
                        scope.reads_frames |= OF_FRAMES.contains(&name.as_str());
                    }
                    ExprKind::Yield(_) | ExprKind::Await(_) => scope.suspends = true,
                    ExprKind::Lambda { .. } => return false,
                    _ => {}
                }
                true
            });
        }
    });
    let is_told = |name: &&Name| looked_up.contains(name.as_str());
    scope.told = scope.bound.keys().filter(is_told).copied().collect();
    scope
}

/// The words of the texts in an expression.
fn texts_in(expr: &Expr) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    walk::expressions(expr, &mut |part| {
        if let ExprKind::Constant(Literal::Str(text)) = &part.kind {
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            found.extend(words.map(str::to_owned));
        }
        true
    });
    found
}
