//! Classes of the project: their methods through bases and overrides, and the class of the object that an expression yields.

use super::link::Denoted;
use super::project::Project;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Call, Expr, ExprKind, Literal};
use std::collections::{BTreeMap, BTreeSet};

/// Who derives from whom; computed once, when every file is indexed.
#[derive(Debug, Default)]
pub(super) struct Families {
    /// A class and its bases, nearest first.
    lineage: BTreeMap<ScopeId, Vec<ScopeId>>,
    /// A class and what is derived from it, at any distance.
    derived: BTreeMap<ScopeId, Vec<ScopeId>>,
    /// Methods of every class by name.
    methods: BTreeMap<String, Vec<ScopeId>>,
}

/// Classes, and packages of classes, that run no methods of what derives from them but special ones and `forward`.
const PASSIVE: &[&str] =
    &["torch.nn.", "torch.utils.data.", "builtins.", "abc.", "enum.", "typing.", "collections.", "torch.autograd."];

impl Families {
    pub fn new(project: &Project) -> Self {
        let mut families = Families::default();
        for (&class, info) in &project.classes {
            let lineage = lineage(project, class);
            for &base in &lineage {
                families.derived.entry(base).or_default().push(class);
            }
            families.lineage.insert(class, lineage);
            for (name, &method) in &info.methods {
                families.methods.entry(name.clone()).or_default().push(method);
            }
        }
        families
    }
}

fn lineage(project: &Project, class: ScopeId) -> Vec<ScopeId> {
    let mut found = vec![class];
    let mut at = 0;
    while let Some(&class) = found.get(at) {
        let around = project.scopes.list[class].parent.unwrap_or_default();
        let bases = project.classes.get(&class).into_iter().flat_map(|info| &info.bases);
        for base in bases.filter_map(|base| project.class_denoted(around, base)) {
            if !found.contains(&base) {
                found.push(base);
            }
        }
        at += 1;
    }
    found
}

impl<'t> Project<'t> {
    /// The name of a method's first parameter.
    pub fn self_name(&self, scope: ScopeId) -> Option<&str> {
        self.scopes.class_of(scope)?;
        self.scopes.list[scope].params().first().copied()
    }

    /// A method by name, looked up through the bases that the file defines.
    pub fn method(&self, class: ScopeId, name: &str) -> Option<ScopeId> {
        self.lineage(class).iter().find_map(|at| self.classes.get(at)?.methods.get(name).copied())
    }

    /// The methods that `object.name` may run when the object is of a class or of one derived from it.
    pub fn methods(&self, class: ScopeId, name: &str) -> Vec<ScopeId> {
        let derived = self.family(class).iter().filter(|&&at| at != class);
        let overriding = derived.filter_map(|at| self.classes.get(at)?.methods.get(name).copied());
        let mut found: Vec<ScopeId> = self.method(class, name).into_iter().chain(overriding).collect();
        found.dedup();
        found
    }

    /// The methods of a class, and of its bases and what derives from it, that Python calls by itself.
    pub fn special_methods(&self, class: ScopeId) -> Vec<ScopeId> {
        let classes = self.lineage(class).iter().chain(self.family(class));
        let methods = classes.filter_map(|at| self.classes.get(at)).flat_map(|info| &info.methods);
        methods.filter(|(name, _)| name.starts_with("__") && *name != "__init__").map(|(_, &method)| method).collect()
    }

    /// What `super().name` runs inside a method.
    pub fn inherited(&self, scope: ScopeId, name: &str) -> Option<ScopeId> {
        let class = self.scopes.class_of(scope)?;
        let bases = self.lineage(class).iter().skip(1);
        bases.filter_map(|at| self.classes.get(at)).find_map(|info| info.methods.get(name).copied())
    }

    /// The getters and setters that an attribute may run: of the object's class, if that is known, else of any class.
    pub fn accessors(&self, class: Option<ScopeId>, attr: &str) -> Vec<ScopeId> {
        let Some(class) = class else { return self.properties.get(attr).cloned().unwrap_or_default() };
        let all = self.family(class).iter().flat_map(|&at| self.lineage(at));
        let found: BTreeSet<ScopeId> =
            all.filter_map(|&at| self.definitions.get(&(at, attr.to_owned()))).flatten().copied().collect();
        found.into_iter().collect()
    }

    /// Whether some class of the file computes the attribute: reading it, or assigning it, runs a function.
    pub fn is_property(&self, attr: &str) -> bool {
        self.properties.contains_key(attr)
    }

    /// Whether a library may run methods of a class by their names: it derives from a class of one, and not from one of those that
    /// are known to run no other methods than special ones and `forward`.
    pub fn is_run_by_library(&self, class: ScopeId) -> bool {
        let known = |name: &str| PASSIVE.iter().any(|known| name.starts_with(known));
        self.lineage(class).iter().any(|&one| {
            let around = self.scopes.list[one].parent.unwrap_or_default();
            self.bases_of_libraries(one).any(|base| !known(&self.library_name(around, base).unwrap_or_default()))
        })
    }

    /// The bases of a class that are no classes of the project.
    pub fn bases_of_libraries(&self, class: ScopeId) -> impl Iterator<Item = &'t Expr> {
        let around = self.scopes.list[class].parent.unwrap_or_default();
        let bases = self.classes.get(&class).into_iter().flat_map(|info| info.bases.iter().copied());
        bases.filter(move |base| self.class_denoted(around, base).is_none())
    }

    /// The values that the methods of a class, or of its bases in the file, assign to an attribute of `self`.
    pub fn attribute_values(&self, class: ScopeId, attr: &str) -> Option<&Vec<&'t Expr>> {
        let key = format!("self.{attr}");
        self.lineage(class).iter().find_map(|&at| self.assigned.get(&(at, key.clone())))
    }

    /// A class and the bases of it that the project defines, nearest first.
    fn lineage(&self, class: ScopeId) -> &[ScopeId] {
        self.families.lineage.get(&class).map_or(&[], Vec::as_slice)
    }

    /// A class and those derived from it.
    fn family(&self, class: ScopeId) -> &[ScopeId] {
        self.families.derived.get(&class).map_or(&[], Vec::as_slice)
    }

    /// Every method of this name.
    pub fn methods_named(&self, name: &str) -> &[ScopeId] {
        self.families.methods.get(name).map_or(&[], Vec::as_slice)
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
}
