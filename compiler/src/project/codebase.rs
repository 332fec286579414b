//! From a script to the files of its project, along its imports.

use crate::diagnostics::Diagnostic;
use crate::ids::{FileId, Id, StmtId};
use crate::source::{Range, Source};
use crate::syntax::tree::{Call, Expr, ExprKind, Literal, Stmt, StmtKind};
use crate::syntax::walk;
use crate::syntax::{File, on_deep_stacks};
use rustc_hash::FxHashSet;

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

impl Codebase {
    /// One file alone.
    pub fn single(script: File) -> Self {
        Self { files: vec![script], unfollowed: Vec::new() }
    }

    /// How much text there is, in bytes.
    pub fn bytes(&self) -> usize {
        self.files.iter().map(|file| file.source.text.len()).sum()
    }

    /// Files that are known already, as those of a recorded run are.
    pub fn of(mut files: Vec<File>) -> Self {
        let mut next = StmtId::FIRST;
        files.iter_mut().for_each(|file| next = file.module.number_from(next));
        Self { files, unfollowed: Vec::new() }
    }
}

/// Follows the imports of these files, wherever they stand; `find` looks a dotted name up. Files that are found at the same
/// distance from the script are parsed beside each other.
pub fn follow(start: Vec<File>, find: &mut dyn FnMut(&str) -> Found) -> Codebase {
    let asked = start.iter().map(|file| file.name.clone()).collect();
    let mut follower = Follower { codebase: Codebase { files: start, unfollowed: Vec::new() }, asked, find };
    let mut done = 0;
    while done < follower.codebase.files.len() {
        let end = follower.codebase.files.len();
        let met = (done..end).flat_map(|at| follower.imports(FileId::new(at))).collect();
        follower.parse(met);
        done = end;
    }
    let Codebase { files, unfollowed } = follower.codebase;
    Codebase { unfollowed, ..Codebase::of(files) }
}

struct Follower<'f> {
    codebase: Codebase,
    asked: FxHashSet<String>,
    find: &'f mut dyn FnMut(&str) -> Found,
}

/// A module that a statement loads, or may load.
struct Wanted {
    range: Range,
    /// None: only the running program knows.
    dotted: Option<String>,
}

/// What an import leads to.
enum Met {
    /// A file that is still to be parsed.
    File {
        /// The import.
        by: (FileId, Range),
        name: String,
        source: Source,
        is_package: bool,
    },
    Unfollowed(Unfollowed),
}

impl Follower<'_> {
    /// What the imports of a file lead to that no import before them led to.
    fn imports(&mut self, file: FileId) -> Vec<Met> {
        let mut found = Vec::new();
        for Wanted { range, dotted } in wanted(&self.codebase.files[file.place()]) {
            let Some(dotted) = dotted else {
                let why = "the name is computed: what it imports is known only when it runs".to_owned();
                found.push(Met::Unfollowed(Unfollowed { file, range, why }));
                continue;
            };
            // Python runs the packages around a module first.
            for end in dotted.match_indices('.').map(|(at, _)| at).chain([dotted.len()]) {
                let name = &dotted[..end];
                if self.asked.contains(name) {
                    continue;
                }
                self.asked.insert(name.to_owned());
                found.extend(match (self.find)(name) {
                    Found::Foreign => None,
                    Found::Unreadable(why) => Some(Met::Unfollowed(unreadable(name, (file, range), &why))),
                    Found::File { source, is_package } => {
                        Some(Met::File { by: (file, range), name: name.to_owned(), source, is_package })
                    }
                });
            }
        }
        found
    }

    /// Parses files, and adds them in the order in which they were met.
    fn parse(&mut self, met: Vec<Met>) {
        let text = |met: &Met| if let Met::File { source, .. } = met { source.text.len() } else { 0 };
        let is_small = met.iter().map(text).sum::<usize>() < WORTH_THREADS;
        let parsed = on_deep_stacks(met, is_small, |met| match met {
            Met::Unfollowed(known) => Err(known),
            Met::File { by, name, source, is_package } => File::module(source, &name, is_package)
                .map_err(|Diagnostic { message, .. }| unreadable(&name, by, &message)),
        });
        for found in parsed {
            match found {
                Ok(file) => self.codebase.files.push(file),
                Err(unfollowed) => self.codebase.unfollowed.push(unfollowed),
            }
        }
    }
}

/// To start a thread takes as long as to parse some kilobytes.
const WORTH_THREADS: usize = 64 << 10;

fn unreadable(name: &str, (file, range): (FileId, Range), why: &str) -> Unfollowed {
    Unfollowed { file, range, why: format!("{name} cannot be read: {why}") }
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
