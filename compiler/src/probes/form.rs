//! Whether added statements read nothing of a value but its form: an answer to `outputs.shape` needs no tensor.

use crate::knowledge::{Knowledge, List};
use crate::scopes::{bound_names, targets};
use crate::syntax::tree::{Expr, ExprKind, Stmt};
use crate::syntax::walk;

/// Whether these statements read nothing of `name` but its form (`x.shape`, `x.size(0)`, `len(x)`).
pub fn asks_for_form_only<'t>(stmts: impl IntoIterator<Item = &'t Stmt>, name: &str) -> bool {
    let mut only = true;
    for stmt in stmts {
        walk::all_of(stmt, &mut |inner| {
            bound_names(inner, &mut |bound| only &= bound != name);
            let changed = targets(inner).into_iter();
            only &= changed.filter_map(object).all(|object| !is_named(object, name));
            only &= walk::own_expressions(inner).all(|expr| is_form(expr, name));
        });
    }
    only
}

/// `x` of `x.shape = …`.
fn object(target: &Expr) -> Option<&Expr> {
    match &target.kind {
        ExprKind::Attribute { value, .. } => Some(value),
        _ => None,
    }
}

fn is_named(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(found) if found == name)
}

fn is_form(expr: &Expr, name: &str) -> bool {
    match &expr.kind {
        ExprKind::Name(found) => found != name,
        ExprKind::Attribute { value, attr }
            if is_named(value, name) && Knowledge::shipped().lists(List::TellsForm, attr) =>
        {
            true
        }
        ExprKind::Call(call) => {
            let called = match &call.callee.kind {
                ExprKind::Name(called) => called.as_str(),
                _ => "",
            };
            let is_fine = |arg: &Expr| called == "len" && is_named(arg, name) || is_form(arg, name);
            !matches!(called, "locals" | "globals" | "vars" | "eval" | "exec")
                && is_form(&call.callee, name)
                && call.args.iter().all(is_fine)
                && call.keywords.iter().all(|(_, value)| is_form(value, name))
        }
        _ => walk::parts(expr).all(|part| is_form(part, name)),
    }
}

#[cfg(test)]
mod tests {
    use super::asks_for_form_only;
    use crate::source::Source;
    use crate::syntax::File;

    #[test]
    fn statements_that_read_only_the_form() {
        let asks = |text: &str| {
            let file = File::script(Source::new("f.py", text), "").unwrap();
            asks_for_form_only(&file.module.body, "out")
        };
        for text in [
            "print(out.shape, out.size(0), len(out), other)",
            "if out.ndim > 1:\n    print(out.dtype)",
            "seen[out.shape] = 1",
            "print(f'{out.shape}')",
            "print('out', net.out)",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "print(out)",
            "print(out.mean())",
            "print(out.T.shape)",
            "print(len(out[0]))",
            "print(out.shape, locals())",
            "out = 1",
            "out.shape = 1",
            "del out",
            "x = [out for out in y]",
            "def f():\n    return out",
            "print(f'{out}')",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
