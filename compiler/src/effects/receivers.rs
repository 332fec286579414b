//! What the receiver of a method is known to be.

use crate::knowledge::{Facts, Knowledge};
use crate::name::Name;
use crate::project::Project;
use crate::scopes::ScopeId;
use crate::syntax::tree::{Call, Expr, ExprKind};

/// What a method call does, by the class of its receiver where only one library class can stand there, else by name.
pub fn method_facts(project: &Project, scope: ScopeId, call: &Call, receiver: &Expr, name: Name) -> Option<Facts> {
    let class = library_class(project, scope, receiver, 4);
    let known = Knowledge::shipped().method(class.map(Name::as_str), &name);
    if class.is_some() {
        return known;
    }
    match name.as_str() {
        // A dict's takes a key; a queue's takes none, and removes what it gives.
        "get" if call.args.is_empty() => {
            Some(Facts { mutates_receiver: true, returns_receiver: true, ..Facts::default() })
        }
        // A text's takes the name of an encoding; a model's takes data.
        "encode" | "decode" if !call.args.iter().all(|arg| matches!(arg.kind, ExprKind::Constant(_))) => None,
        _ => known,
    }
}

/// The library class of an object, by its dotted name, when every assignment to it calls the same one.
pub(super) fn library_class(project: &Project, scope: ScopeId, object: &Expr, fuel: usize) -> Option<Name> {
    let fuel = fuel.checked_sub(1)?;
    match &object.kind {
        ExprKind::Name(name) => {
            let home = project.scopes.resolve(scope, *name)?;
            let values = project.index.assigned.get(home, *name)?;
            if values.len() != count_of_bindings(project, home, *name) {
                return None;
            }
            same_class(project, home, values, fuel)
        }
        ExprKind::Attribute { value, attr } => {
            let class = project.class_of_value(scope, value)?;
            same_class(project, project.method(class, "__init__")?, project.attribute_values(class, *attr)?, fuel)
        }
        ExprKind::Call(call) => {
            let known = Knowledge::shipped();
            let made = project.library_name(scope, &call.callee)?;
            let class = known.made_by(&made);
            // What a function returns is anything, unless the knowledge base says what.
            let is_class = made.rsplit('.').next()?.starts_with(|first: char| first.is_ascii_uppercase());
            (is_class || made != class || known.is_class(&made)).then(|| Name::new(class))
        }
        _ => None,
    }
}

fn same_class(project: &Project, scope: ScopeId, values: &[&Expr], fuel: usize) -> Option<Name> {
    let mut classes = values.iter().map(|value| library_class(project, scope, value, fuel));
    let first = classes.next()??;
    classes.all(|class| class == Some(first)).then_some(first)
}

/// How many statements of its scope bind a name, its parameter list among them.
pub(super) fn count_of_bindings(project: &Project, home: ScopeId, name: Name) -> usize {
    project.scopes.list[home].bound.get(&name).copied().unwrap_or(0)
}
