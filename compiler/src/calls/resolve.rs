//! What a call expression calls.

use crate::name::Name;
use crate::project::{Denoted, Project};
use crate::scopes::{Owner, ScopeId};
use crate::syntax::tree::{Call, Expr, ExprKind};

/// Methods of one name, of classes that have nothing to do with each other, that a call on an object of unknown class is
/// taken to reach; where there are more, the call is one of a method that is not known.
const MAX_CANDIDATES: usize = 12;

/// What is called.
#[derive(Clone, Debug)]
pub enum Callee<'t> {
    /// Functions of the project (several when a name is defined on several branches).
    Functions(Vec<ScopeId>),
    /// A class of the project: its `__init__`, if it has one.
    Class(Option<ScopeId>),
    /// Methods of the project on a receiver. `sure`: the receiver's class is known; else found by name alone.
    Methods {
        /// The receiver.
        receiver: &'t Expr,
        /// The candidates.
        targets: Vec<ScopeId>,
        /// The method's name.
        name: Name,
        /// Whether the receiver's class is known.
        sure: bool,
    },
    /// Something imported, or a builtin, by its dotted name.
    Library(Name),
    /// A method of an object whose class is not of the project.
    Method {
        /// The receiver.
        receiver: &'t Expr,
        /// The method's name.
        name: Name,
    },
    /// An object that is called; `target` is its class's `forward` or `__call__`, if the project has it.
    Object {
        /// The object.
        object: &'t Expr,
        /// What its class runs.
        target: Option<ScopeId>,
    },
    /// A parameter or other variable that may hold any function.
    Variable(&'t Expr),
}

impl<'t> Project<'t> {
    /// Resolves a call made in `scope`.
    pub fn callee<'e>(&self, scope: ScopeId, call: &'e Call) -> Callee<'e> {
        if let ExprKind::Attribute { value, attr } = &call.callee.kind {
            return self.attribute_callee(scope, &call.callee, value, *attr);
        }
        let ExprKind::Name(name) = &call.callee.kind else {
            return match self.class_of_value(scope, &call.callee) {
                Some(class) => self.object(&call.callee, class),
                None => Callee::Variable(&call.callee),
            };
        };
        if let Some(library) = self.library_name(scope, &call.callee) {
            return Callee::Library(library);
        }
        if let Some(Denoted::Definitions(found)) = self.denoted(scope, &call.callee) {
            return self.defined(found);
        }
        let Some(home) = self.scopes.resolve(scope, *name) else {
            return Callee::Variable(&call.callee);
        };
        if let Some(class) = self.class_of_value(scope, &call.callee) {
            return self.object(&call.callee, class);
        }
        // A variable that only ever holds what calls returned is an object, not a function.
        let made_by_calls = self
            .index
            .assigned
            .get(home, *name)
            .is_some_and(|values| values.iter().all(|value| matches!(value.kind, ExprKind::Call(_))));
        if made_by_calls {
            return Callee::Object { object: &call.callee, target: None };
        }
        Callee::Variable(&call.callee)
    }

    /// Whether an object is only ever made by a library, so that its methods are not the project's.
    fn is_foreign(&self, scope: ScopeId, object: &Expr) -> bool {
        let values = match &object.kind {
            ExprKind::Name(name) => {
                self.scopes.resolve(scope, *name).and_then(|home| self.index.assigned.get(home, *name))
            }
            ExprKind::Attribute { value, attr } => {
                self.class_of_value(scope, value).and_then(|class| self.attribute_values(class, *attr))
            }
            _ => None,
        };
        values.is_some_and(|values| {
            values.iter().all(|value| match &value.kind {
                ExprKind::Call(call) => {
                    self.library_name(scope, &call.callee).is_some_and(|name| !name.starts_with("builtins."))
                }
                _ => false,
            })
        })
    }

    fn defined<'e>(&self, found: &[ScopeId]) -> Callee<'e> {
        if let Some(&class) = found.iter().find(|id| matches!(self.scopes.list[**id].owner, Owner::Class(_))) {
            return Callee::Class(self.method(class, "__init__"));
        }
        Callee::Functions(found.to_vec())
    }

    fn object<'e>(&self, object: &'e Expr, class: ScopeId) -> Callee<'e> {
        let target = self.method(class, "forward").or_else(|| self.method(class, "__call__"));
        Callee::Object { object, target }
    }

    fn attribute_callee<'e>(&self, scope: ScopeId, whole: &'e Expr, value: &'e Expr, attr: Name) -> Callee<'e> {
        if let Some(library) = self.library_name(scope, whole) {
            return Callee::Library(library);
        }
        match self.denoted(scope, whole) {
            Some(Denoted::Definitions(found)) => return self.defined(found),
            Some(Denoted::Variable(..)) => return Callee::Variable(whole),
            _ => {}
        }
        if let Some(Denoted::Module(_)) = self.denoted(scope, value) {
            return Callee::Variable(whole);
        }
        if matches!(&value.kind, ExprKind::Call(call) if is_super(call)) {
            return match self.inherited(scope, attr) {
                Some(target) => Callee::Methods { receiver: value, targets: vec![target], name: attr, sure: true },
                None => Callee::Method { receiver: value, name: attr },
            };
        }
        if let Some(class) = self.class_of_value(scope, value) {
            let targets = self.methods(class, attr);
            if !targets.is_empty() {
                let sure = self.method(class, attr).is_some();
                return Callee::Methods { receiver: value, targets, name: attr, sure };
            }
            return match self.attribute_values(class, attr) {
                // `self.model(x)`: the attribute holds an object, which is called.
                Some(_) => match self.class_of_value(scope, whole) {
                    Some(held) => self.object(whole, held),
                    None => Callee::Object { object: whole, target: None },
                },
                // Inherited from a class that florc cannot see.
                None => Callee::Method { receiver: value, name: attr },
            };
        }
        if self.is_foreign(scope, value) {
            return Callee::Method { receiver: value, name: attr };
        }
        // A name that half of the project's classes share says nothing.
        let named = self.methods_named(attr);
        if named.is_empty() || named.len() > MAX_CANDIDATES {
            Callee::Method { receiver: value, name: attr }
        } else {
            Callee::Methods { receiver: value, targets: named.to_vec(), name: attr, sure: false }
        }
    }
}

/// `super()`.
pub(crate) fn is_super(call: &Call) -> bool {
    matches!(&call.callee.kind, ExprKind::Name(name) if name == "super")
}
