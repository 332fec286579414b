//! Classes of the project: their methods through bases and overrides, and the class of the object that an expression yields.

use super::Project;
use crate::knowledge::{Knowledge, List};
use crate::name::Name;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Call, Expr, ExprKind};
use std::collections::BTreeSet;

impl<'t> Project<'t> {
    /// A method by name, looked up through the bases that the file defines.
    pub fn method(&self, class: ScopeId, name: impl Into<Name>) -> Option<ScopeId> {
        let name = name.into();
        self.families.lineage(class).iter().find_map(|at| self.index.classes.get(at)?.methods.get(&name).copied())
    }

    /// The methods that `object.name` may run when the object is of a class or of one derived from it.
    pub fn methods(&self, class: ScopeId, name: impl Into<Name>) -> Vec<ScopeId> {
        let name = name.into();
        let derived = self.families.family(class).iter().filter(|&&at| at != class);
        let overriding = derived.filter_map(|at| self.index.classes.get(at)?.methods.get(&name).copied());
        let mut found: Vec<ScopeId> = self.method(class, name).into_iter().chain(overriding).collect();
        found.dedup();
        found
    }

    /// The methods of a class, and of its bases and what derives from it, that Python calls by itself.
    pub fn special_methods(&self, class: ScopeId) -> Vec<ScopeId> {
        let classes = self.families.lineage(class).iter().chain(self.families.family(class));
        let methods = classes.filter_map(|at| self.index.classes.get(at)).flat_map(|info| &info.methods);
        methods.filter(|(name, _)| name.starts_with("__") && **name != "__init__").map(|(_, &method)| method).collect()
    }

    /// What `super().name` runs inside a method.
    pub fn inherited(&self, scope: ScopeId, name: Name) -> Option<ScopeId> {
        let class = self.scopes.class_of(scope)?;
        let bases = self.families.lineage(class).iter().skip(1);
        bases.filter_map(|at| self.index.classes.get(at)).find_map(|info| info.methods.get(&name).copied())
    }

    /// The getters and setters that an attribute may run: of the object's class, if that is known, else of any class.
    pub fn accessors(&self, class: Option<ScopeId>, attr: Name) -> Vec<ScopeId> {
        let Some(class) = class else { return self.index.properties.get(&attr).cloned().unwrap_or_default() };
        let all = self.families.family(class).iter().flat_map(|&at| self.families.lineage(at));
        let found: BTreeSet<ScopeId> =
            all.filter_map(|&at| self.index.definitions.get(at, attr)).flatten().copied().collect();
        found.into_iter().collect()
    }

    /// Whether some class of the file computes the attribute: reading it, or assigning it, runs a function.
    pub fn is_property(&self, attr: Name) -> bool {
        self.index.properties.contains_key(&attr)
    }

    /// Whether a library may run methods of a class by their names: it derives from a class of one, and not from one of those that
    /// are known to run no other methods than special ones and `forward`.
    pub fn is_run_by_library(&self, class: ScopeId) -> bool {
        let known = |name: &str| Knowledge::shipped().names(List::RunsNoMethods).any(|known| name.starts_with(known));
        self.families.lineage(class).iter().any(|&one| {
            let around = self.scopes.list[one].parent.unwrap_or(one);
            self.bases_of_libraries(one).any(|base| !known(self.library_name(around, base).map_or("", Name::as_str)))
        })
    }

    /// The bases of a class that are no classes of the project.
    pub fn bases_of_libraries(&self, class: ScopeId) -> impl Iterator<Item = &'t Expr> {
        let around = self.scopes.list[class].parent.unwrap_or(class);
        let bases = self.index.classes.get(&class).into_iter().flat_map(|info| info.bases.iter().copied());
        bases.filter(move |base| self.class_denoted(around, base).is_none())
    }

    /// The values that the methods of a class, or of its bases in the file, assign to an attribute of `self`.
    pub fn attribute_values(&self, class: ScopeId, attr: Name) -> Option<&Vec<&'t Expr>> {
        self.families.lineage(class).iter().find_map(|&at| self.index.attributes.get(at, attr))
    }

    /// The values assigned to a name, or to an attribute of an object of a known class in that class.
    pub fn values_of(&self, scope: ScopeId, object: &Expr) -> Option<&Vec<&'t Expr>> {
        match &object.kind {
            ExprKind::Name(name) => self.index.assigned.get(self.scopes.resolve(scope, *name)?, *name),
            ExprKind::Attribute { value, attr } => self.index.attributes.get(self.class_of_value(scope, value)?, *attr),
            _ => None,
        }
    }

    /// The class of the object that an expression yields, where one assignment settles it.
    pub fn class_of_value(&self, scope: ScopeId, expr: &Expr) -> Option<ScopeId> {
        self.class_within(scope, expr, 8)
    }

    fn class_within(&self, scope: ScopeId, expr: &Expr, fuel: usize) -> Option<ScopeId> {
        let fuel = fuel.checked_sub(1)?;
        match &expr.kind {
            ExprKind::Name(name) => {
                if self.scopes.self_name(scope) == Some(*name) {
                    return self.scopes.class_of(scope);
                }
                let home = self.scopes.resolve(scope, *name)?;
                if let Some(annotation) = self.index.annotations.get(home, *name) {
                    return self.class_denoted(home, annotation);
                }
                self.single_class(home, self.index.assigned.get(home, *name)?, fuel)
            }
            ExprKind::Attribute { value, attr } => {
                let class = self.class_within(scope, value, fuel)?;
                let values = self.attribute_values(class, *attr)?;
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
            ExprKind::Attribute { value, attr } if Knowledge::shipped().lists(List::ReturnsItself, attr) => {
                self.class_within(scope, value, fuel)
            }
            _ => None,
        }
    }
}
