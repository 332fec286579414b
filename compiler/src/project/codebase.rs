//! From a script to the files of its project, along its imports.

use crate::diagnostics::Diagnostic;
use crate::ids::{FileId, Id, StmtId};
use crate::source::{Range, Source};
use crate::syntax::File;
use crate::syntax::tree::{Call, Expr, ExprKind, Literal, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// What is found under the dotted name of a module.
#[derive(Debug)]
pub enum Found {
    /// A file of the project; `is_package`: its `__init__.py`.
    File {
        /// Its text.
        source: Source,
        /// Whether it is a package's own file.
        is_package: bool,
    },
    /// A file of the project that cannot be read as text; why.
    Unreadable(String),
    /// A library, a package without a file of its own, or nothing.
    Foreign,
}

/// An import that is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfollowed {
    /// The file that imports, of [`Codebase::files`].
    pub file: FileId,
    /// Where.
    pub range: Range,
    /// Why, in words.
    pub why: String,
}

/// The files of a project, their statements numbered one after another; the script first.
#[derive(Debug)]
pub struct Codebase {
    /// The files.
    pub files: Vec<File>,
    /// Imports that were not followed, other than those of libraries.
    pub unfollowed: Vec<Unfollowed>,
}

/// A project that imports more files than this is followed in part.
const MAX_FILES: usize = 300;
/// So is one with more text than this.
const MAX_BYTES: usize = 1 << 20;

impl Codebase {
    /// One file alone.
    pub fn single(script: File) -> Self {
        Self { files: vec![script], unfollowed: Vec::new() }
    }

    /// Whether it is as large as a project that is analysed together may be; what else is met is analysed alone.
    pub fn is_full(&self) -> bool {
        self.files.len() >= MAX_FILES
            || self.files.iter().map(|file| file.source.text.len()).sum::<usize>() >= MAX_BYTES
    }

    /// Files that are known already, as those of a recorded run are.
    pub fn of(mut files: Vec<File>) -> Self {
        let mut next = StmtId::FIRST;
        files.iter_mut().for_each(|file| next = file.module.number_from(next));
        Self { files, unfollowed: Vec::new() }
    }
}

/// Follows the imports of these files, wherever they stand; `find` looks a dotted name up.
pub fn follow(start: Vec<File>, find: &mut dyn FnMut(&str) -> Found) -> Codebase {
    let asked = start.iter().map(|file| file.name.clone()).collect();
    let mut follower = Follower { codebase: Codebase { files: start, unfollowed: Vec::new() }, asked, bytes: 0, find };
    let mut at = FileId::FIRST;
    while let Some(file) = follower.codebase.files.get(at.place()) {
        for wanted in wanted(file) {
            follower.load(at, &wanted);
        }
        at = at.next();
    }
    let Codebase { files, unfollowed } = follower.codebase;
    Codebase { unfollowed, ..Codebase::of(files) }
}

struct Follower<'f> {
    codebase: Codebase,
    asked: BTreeSet<String>,
    bytes: usize,
    find: &'f mut dyn FnMut(&str) -> Found,
}

/// A module that a statement loads, or may load.
struct Wanted {
    range: Range,
    /// None: only the running program knows.
    dotted: Option<String>,
}

impl Follower<'_> {
    fn load(&mut self, file: FileId, wanted: &Wanted) {
        let Some(dotted) = &wanted.dotted else {
            let why = "the name is computed: what it imports is known only when it runs".to_owned();
            self.codebase.unfollowed.push(Unfollowed { file, range: wanted.range, why });
            return;
        };
        // Python runs the packages around a module first.
        let ends = dotted.match_indices('.').map(|(at, _)| at).chain([dotted.len()]);
        for end in ends {
            let name = &dotted[..end];
            if self.codebase.files.len() < MAX_FILES && self.bytes < MAX_BYTES && self.asked.insert(name.to_owned()) {
                self.load_one(file, wanted.range, name);
            }
        }
    }

    fn load_one(&mut self, file: FileId, range: Range, name: &str) {
        let why = match (self.find)(name) {
            Found::Foreign => return,
            Found::Unreadable(why) => why,
            Found::File { source, is_package } => match File::module(source, name, is_package) {
                Ok(found) => {
                    self.bytes += found.source.text.len();
                    self.codebase.files.push(found);
                    return;
                }
                Err(Diagnostic { message, .. }) => message,
            },
        };
        let why = format!("{name} cannot be read: {why}");
        self.codebase.unfollowed.push(Unfollowed { file, range, why });
    }
}

fn wanted(file: &File) -> Vec<Wanted> {
    let mut found = Vec::new();
    walk::all_statements(&file.module, &mut |stmt| {
        if let StmtKind::Import(imports) = &stmt.kind {
            for import in imports {
                // `from package import name`: the name may be a module of the package.
                for written in [&import.module, &import.dotted] {
                    let dotted = file.absolute(written.trim_end_matches(".*"));
                    found.extend(dotted.map(|dotted| Wanted { range: stmt.range, dotted: Some(dotted) }));
                }
            }
        }
        dynamic_imports(stmt, &mut found);
    });
    found
}

/// `importlib.import_module("models.resnet")` is followed like an import; with a computed name it cannot be.
fn dynamic_imports(stmt: &Stmt, found: &mut Vec<Wanted>) {
    for expr in walk::own_expressions(stmt) {
        walk::expressions(expr, &mut |part| {
            if let ExprKind::Call(call) = &part.kind
                && imports_by_name(call)
            {
                let dotted = call.args.first().and_then(literal).filter(|name| !name.starts_with('.'));
                found.push(Wanted { range: part.range, dotted });
            }
            true
        });
    }
}

fn imports_by_name(call: &Call) -> bool {
    match &call.callee.kind {
        ExprKind::Name(name) => matches!(name.as_str(), "__import__" | "import_module"),
        ExprKind::Attribute { attr, .. } => attr == "import_module",
        _ => false,
    }
}

fn literal(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Constant(Literal::Str(text)) => Some(text.clone()),
        _ => None,
    }
}
