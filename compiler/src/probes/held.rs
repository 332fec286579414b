//! Which names added statements bind, so that objects which only these hold are told from those that the script holds.

use std::collections::BTreeSet;

use crate::scopes::{bound_names, targets};
use crate::syntax::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::walk;

/// The names that these statements bind, and whether they may hold objects otherwise: in attributes and items, functions, lambdas.
pub fn names_that_hold<'t>(stmts: impl IntoIterator<Item = &'t Stmt>) -> (BTreeSet<String>, bool) {
    let (mut names, mut otherwise) = (BTreeSet::new(), false);
    for stmt in stmts {
        walk::all_of(stmt, &mut |inner| {
            bound_names(inner, &mut |name| {
                names.insert(name.to_string());
            });
            otherwise |= matches!(inner.kind, StmtKind::Function(_) | StmtKind::Class(_));
            otherwise |= targets(inner).into_iter().any(is_part);
            for expr in walk::own_expressions(inner) {
                walk::expressions(expr, &mut |part| {
                    otherwise |= matches!(part.kind, ExprKind::Lambda { .. });
                    !otherwise
                });
            }
        });
    }
    (names, otherwise)
}

fn is_part(target: &Expr) -> bool {
    matches!(target.kind, ExprKind::Attribute { .. } | ExprKind::Subscript { .. })
}

#[cfg(test)]
mod tests {
    use super::names_that_hold;
    use crate::source::Source;
    use crate::syntax::parse;

    fn of(text: &str) -> (Vec<String>, bool) {
        let (module, _) = parse(&Source::new("train", text)).unwrap_or_else(|error| panic!("{error:?}"));
        let (names, otherwise) = names_that_hold(&module.body);
        (names.into_iter().collect(), otherwise)
    }

    #[test]
    fn a_name_of_a_comprehension_holds_nothing_later() {
        assert_eq!(of("print([p.norm() for p in net.parameters()])"), (vec![], false));
        assert_eq!(of("for p in net.parameters():\n    total = p.norm()"), (vec!["p".into(), "total".into()], false));
        assert_eq!(of("self.probe = net.weight"), (vec![], true));
        assert_eq!(of("kept['w'] = net.weight"), (vec![], true));
        assert_eq!(of("net.register_forward_hook(lambda *a: print(a))"), (vec![], true));
    }
}
