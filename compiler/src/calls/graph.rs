//! The call graph of a project, and the order in which summaries are computed.

use super::resolve::Callee;
use crate::ids::{Id, StmtId};
use crate::project::{Denoted, Project};
use crate::scopes::{Owner, ScopeId};
use crate::source::Range;
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;
use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// A call, or a mention of a function as a value, inside a scope.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// The scope that calls.
    pub scope: ScopeId,
    /// The number of the statement that holds the call.
    pub stmt: StmtId,
    /// Functions of the project that it may run.
    pub targets: Vec<ScopeId>,
    /// Whether it may also run code that florc cannot see, and which may call back into the project.
    pub opaque: bool,
    /// Whether it runs when something else does, wherever that is: it stands in a `lambda`, or in a generator expression.
    pub deferred: bool,
}

/// Every call of a project.
#[derive(Debug)]
pub struct CallGraph {
    /// The call sites, in source order.
    pub sites: Vec<CallSite>,
    /// By the number of a statement: which of the sites are in it.
    of_statement: FxHashMap<StmtId, Vec<usize>>,
    /// By function: which of the sites may run it.
    of_target: FxHashMap<ScopeId, Vec<usize>>,
    /// Functions mentioned other than by calling them: passed as arguments, stored, returned.
    pub mentioned: BTreeSet<ScopeId>,
    /// What runs when a class is called that is handed on as a value (`KINDS = {"item": Item}`): nothing tells who calls it.
    pub constructors: BTreeSet<ScopeId>,
    /// Who may run whom, calls that are not written as calls included: callbacks, properties, `with`, `for`, subscripts.
    edges: BTreeSet<(ScopeId, ScopeId)>,
}

impl CallGraph {
    /// Finds every call of the project.
    pub fn new(project: &Project) -> Self {
        let mut graph = CallGraph {
            sites: Vec::new(),
            of_statement: FxHashMap::default(),
            of_target: FxHashMap::default(),
            mentioned: BTreeSet::new(),
            constructors: BTreeSet::new(),
            edges: BTreeSet::new(),
        };
        for (id, scope) in project.scopes.list.enumerated() {
            walk::statements(scope.body, &mut |stmt| graph.statement(project, id, stmt));
        }
        graph
    }

    fn statement(&mut self, project: &Project, scope: ScopeId, stmt: &Stmt) {
        if matches!(stmt.kind, StmtKind::For(_) | StmtKind::With { .. }) {
            let classes = walk::own_expressions(stmt).filter_map(|expr| project.class_of_value(scope, expr));
            let special: Vec<ScopeId> = classes.flat_map(|class| project.special_methods(class)).collect();
            self.edges.extend(special.into_iter().map(|target| (scope, target)));
        }
        let mut called_names: BTreeSet<usize> = BTreeSet::new();
        let mut later: Vec<Range> = Vec::new();
        let mut looked_into: BTreeSet<usize> = BTreeSet::new();
        for expr in walk::own_expressions(stmt) {
            walk::expressions(expr, &mut |part| {
                match &part.kind {
                    ExprKind::Call(call) => {
                        called_names.insert(call.callee.range.start);
                        let (targets, opaque) = reached(project, scope, &project.callee(scope, call));
                        self.edges.extend(targets.iter().map(|&target| (scope, target)));
                        self.of_statement.entry(stmt.id).or_default().push(self.sites.len());
                        for &target in &targets {
                            self.of_target.entry(target).or_default().push(self.sites.len());
                        }
                        let deferred = later.iter().any(|around| around.contains(part.range));
                        self.sites.push(CallSite { scope, stmt: stmt.id, targets, opaque, deferred });
                    }
                    ExprKind::Lambda { .. } | ExprKind::Comprehension { is_generator: true, .. } => {
                        later.push(part.range)
                    }
                    ExprKind::Name(_) | ExprKind::Attribute { .. } if !called_names.contains(&part.range.start) => {
                        if !looked_into.contains(&part.range.start) && !matches!(stmt.kind, StmtKind::Class(_)) {
                            let class = project.class_denoted(scope, part);
                            let run = class.into_iter().flat_map(|class| constructors(project, class));
                            self.constructors.extend(run);
                        }
                        looked_into.insert(part.range.start); // of `kinds.Item` the first part is no class that is handed on
                        let named = functions_named(project, scope, part);
                        self.edges.extend(named.iter().map(|&target| (scope, target)));
                        self.mentioned.extend(named);
                    }
                    _ => {}
                }
                let implied = implied(project, scope, part);
                self.edges.extend(implied.into_iter().map(|target| (scope, target)));
                true
            });
        }
    }

    /// The call sites in a statement, not those of the statements inside it.
    pub fn sites_of(&self, stmt: StmtId) -> impl Iterator<Item = &CallSite> {
        self.of_statement.get(&stmt).into_iter().flatten().map(|&at| &self.sites[at])
    }

    /// The call sites that may run a function, in source order.
    pub fn sites_that_call(&self, target: ScopeId) -> impl Iterator<Item = &CallSite> {
        self.of_target.get(&target).into_iter().flatten().map(|&at| &self.sites[at])
    }

    fn edges_from(&self, caller: ScopeId) -> impl Iterator<Item = &(ScopeId, ScopeId)> {
        self.edges.range((caller, ScopeId::FIRST)..=(caller, ScopeId::LAST))
    }

    /// Functions, and what these run or mention, at any distance.
    pub fn below(&self, functions: impl IntoIterator<Item = ScopeId>) -> BTreeSet<ScopeId> {
        let mut found = BTreeSet::new();
        let mut todo: Vec<ScopeId> = functions.into_iter().collect();
        while let Some(next) = todo.pop() {
            if found.insert(next) {
                todo.extend(self.edges_from(next).map(|&(_, target)| target));
            }
        }
        found
    }

    /// Of the functions of a group, which each one is run by.
    pub fn callers_within(&self, group: &[ScopeId]) -> BTreeMap<ScopeId, Vec<ScopeId>> {
        let members: BTreeSet<ScopeId> = group.iter().copied().collect();
        let mut callers: BTreeMap<ScopeId, Vec<ScopeId>> = BTreeMap::new();
        for &caller in group {
            for &(_, target) in self.edges_from(caller) {
                if members.contains(&target) {
                    callers.entry(target).or_default().push(caller);
                }
            }
        }
        callers
    }

    /// Strongly connected components of the functions, callees before callers.
    pub fn bottom_up(&self, functions: usize) -> Vec<Vec<ScopeId>> {
        let mut graph = DiGraph::<(), ()>::with_capacity(functions, self.edges.len());
        let nodes: Vec<_> = (0..functions).map(|_| graph.add_node(())).collect();
        for &(caller, target) in &self.edges {
            graph.add_edge(nodes[caller.place()], nodes[target.place()], ());
        }
        tarjan_scc(&graph)
            .into_iter()
            .map(|part| part.into_iter().map(|node| ScopeId::new(node.index())).collect())
            .collect()
    }
}

/// Methods of the project that an expression runs without calling them by name.
fn implied(project: &Project, scope: ScopeId, expr: &Expr) -> Vec<ScopeId> {
    let special = |object: &Expr| -> Vec<ScopeId> {
        let class = project.class_of_value(scope, object);
        class.map(|class| project.special_methods(class)).unwrap_or_default()
    };
    match &expr.kind {
        ExprKind::Attribute { attr, .. } if project.is_property(*attr) => project.accessors(None, *attr),
        ExprKind::Subscript { value, .. } => special(value),
        _ => Vec::new(),
    }
}

/// The functions that a callee may run, and whether it may run code that florc cannot see.
fn reached(project: &Project, scope: ScopeId, callee: &Callee) -> (Vec<ScopeId>, bool) {
    match callee {
        Callee::Functions(targets) => (targets.clone(), false),
        Callee::Class(init) => (init.iter().copied().collect(), false),
        Callee::Methods { targets, sure, .. } => (targets.clone(), !sure),
        Callee::Object { target, .. } => (target.iter().copied().collect(), target.is_none()),
        Callee::Library(_) => (Vec::new(), false),
        Callee::Method { .. } => (Vec::new(), true),
        Callee::Variable(expr) => (functions_named(project, scope, expr), true),
    }
}

fn constructors(project: &Project, class: ScopeId) -> Vec<ScopeId> {
    ["__init__", "__new__", "__post_init__"].iter().flat_map(|&name| project.methods(class, name)).collect()
}

/// Functions of the project that a name or attribute may denote.
pub(crate) fn functions_named(project: &Project, scope: ScopeId, expr: &Expr) -> Vec<ScopeId> {
    let is_function = |id: &ScopeId| matches!(project.scopes.list[*id].owner, Owner::Function(_));
    if let Some(Denoted::Definitions(found)) = project.denoted(scope, expr) {
        return found.iter().copied().filter(is_function).collect();
    }
    match &expr.kind {
        // A function whose name is bound again (`train = wrap(train)`) may still be meant.
        ExprKind::Name(name) => project
            .scopes
            .resolve(scope, *name)
            .and_then(|home| project.index.definitions.get(home, *name))
            .map(|found| found.iter().copied().filter(is_function).collect())
            .unwrap_or_default(),
        ExprKind::Attribute { value, attr } => {
            project.class_of_value(scope, value).and_then(|class| project.method(class, *attr)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
