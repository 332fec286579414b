//! Which environment variables the files of a project name.

use crate::syntax::tree::{Call, Expr, ExprKind, Literal, Module};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// The names in `os.environ["HOME"]`, `os.environ.get("HOME")`, `os.getenv("HOME")`; not those that are made up.
pub fn variables<'t>(modules: impl IntoIterator<Item = &'t Module>) -> BTreeSet<&'t str> {
    let mut found = BTreeSet::new();
    for module in modules {
        walk::all_statements(module, &mut |stmt| {
            for expr in walk::own_expressions(stmt) {
                walk::expressions(expr, &mut |part| {
                    found.extend(variable(part));
                    true
                });
            }
        });
    }
    found
}

fn variable(expr: &Expr) -> Option<&str> {
    let name = match &expr.kind {
        ExprKind::Subscript { value, index } if is_called(value, "environ") => index,
        ExprKind::Call(call) if asks(call) => call.args.first()?,
        _ => return None,
    };
    match &name.kind {
        ExprKind::Constant(Literal::Str(name)) => Some(name),
        _ => None,
    }
}

fn asks(call: &Call) -> bool {
    match &call.callee.kind {
        ExprKind::Attribute { value, attr } if is_called(value, "environ") => {
            matches!(attr.as_str(), "get" | "pop" | "setdefault")
        }
        _ => is_called(&call.callee, "getenv"),
    }
}

/// `environ`, `os.environ`, `self.environ`.
fn is_called(expr: &Expr, name: &str) -> bool {
    matches!(&expr.kind, ExprKind::Name(found) | ExprKind::Attribute { attr: found, .. } if found == name)
}

#[cfg(test)]
mod tests {
    use super::variables;
    use crate::source::Source;
    use crate::syntax::File;

    #[test]
    fn names_that_are_written_out() {
        let text = "
x = os.environ['A'], os.getenv(\"B\"), os.environ.get( 'C', 'no'), os.environ[name], environ.pop(f'{x}')
def f(y=os.environ.setdefault('D', '1')):
    return f'{getenv(\"E\")} {os.environ.get(\"F\" + x)}'  # os.environ['G']
";
        let file = File::script(Source::new("f.py", text), "").unwrap();
        assert_eq!(variables([&file.module]).into_iter().collect::<String>(), "ABCDE");
    }
}
