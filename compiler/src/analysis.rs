//! Everything that is known of a project before anything is decided.

use crate::calls::{CallGraph, Callee};
use crate::effects::{Aliases, Extractor, Summaries};
use crate::flow::{Flow, long_call};
use crate::ids::FileId;
use crate::loops::{Loop, Loops};
use crate::project::Project;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Expr, Stmt};
use crate::syntax::{File, walk};
use std::collections::BTreeMap;

/// What plans, instrumentations and probe reports are made from.
pub struct Analysis<'t> {
    /// The files; the script first.
    pub files: &'t [File],
    /// Scopes, classes, imports.
    pub project: Project<'t>,
    /// Who calls whom.
    pub graph: CallGraph,
    /// Which names may share objects.
    pub aliases: Aliases,
    /// What each function changes.
    pub summaries: Summaries,
    /// The loops.
    pub loops: Loops<'t>,
}

impl<'t> Analysis<'t> {
    /// Analyses files whose statements are numbered one after another.
    pub fn new(files: &'t [File]) -> Self {
        let project = Project::new(files);
        let graph = CallGraph::new(&project);
        let aliases = Aliases::new(&project);
        let summaries = Summaries::new(&project, &graph, &aliases);
        let loops = Loops::and_calls(&project.scopes, &|scope, stmt| is_library_alone(&project, files, scope, stmt));
        Self { files, project, graph, aliases, summaries, loops }
    }

    /// What reads effects off its statements.
    pub fn extractor(&self) -> Extractor<'_, 't> {
        Extractor::new(&self.project, &self.aliases, &self.summaries)
    }

    /// The control flow of the scopes that hold loops.
    pub fn flows(&self) -> BTreeMap<ScopeId, Flow> {
        let mut flows = BTreeMap::new();
        for entry in &self.loops.list {
            let flow = || Flow::new(&self.project.scopes, entry.scope, self.is_shared(entry.scope));
            flows.entry(entry.scope).or_insert_with(flow);
        }
        flows
    }

    /// Whether another file may read the globals of the module that a scope lies in.
    pub fn is_shared(&self, scope: ScopeId) -> bool {
        self.files[self.project.scopes.list[scope].file].name != File::SCRIPT
    }

    /// The file that a loop is in.
    pub fn file_of(&self, entry: &Loop) -> FileId {
        self.project.scopes.list[entry.scope].file
    }

    /// Every expression of the project, with the scope that evaluates it.
    pub fn each_expression(&self, visit: &mut dyn FnMut(ScopeId, &'t Expr)) {
        for (id, scope) in self.project.scopes.list.enumerated() {
            walk::statements(scope.body, &mut |stmt| {
                for expr in walk::own_expressions(stmt) {
                    walk::expressions(expr, &mut |part| {
                        visit(id, part);
                        true
                    });
                }
            });
        }
    }
}

/// Whether a statement that calls something long runs a library's function, not one of the project's, and has its lines for itself.
fn is_library_alone(project: &Project, files: &[File], scope: ScopeId, stmt: &Stmt) -> bool {
    let Some(call) = long_call(stmt) else { return false };
    let file = &files[project.scopes.list[scope].file];
    let end = file.tokens.logical_line_end(stmt.range.end.max(1) - 1, file.source.text.len());
    let behind = file.source.text[stmt.range.end..end].trim_start();
    let is_alone = file.source.starts_line(stmt.range.start) && (behind.is_empty() || behind.starts_with('#'));
    is_alone && matches!(project.callee(scope, call), Callee::Library(_) | Callee::Method { .. })
}
