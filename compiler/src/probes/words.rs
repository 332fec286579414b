//! Names that the watch over added statements asks for.

use crate::syntax::tree::{ExprKind, Module, Stmt, StmtKind};
use crate::syntax::walk;
use std::collections::BTreeSet;

/// Every word of a text, those in strings and comments too: `setattr(net, "loss", …)` names an attribute.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Attributes that the calls of modules leave behind and do not read, as `self.aux_loss = …`: the next call does so again.
pub fn left_by_forward<'t>(modules: impl IntoIterator<Item = &'t Module>) -> BTreeSet<String> {
    let (mut left, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut read = |stmt: &'t Stmt| {
        let targets = match &stmt.kind {
            StmtKind::Assign { targets, .. } => targets.as_slice(),
            _ => &[],
        };
        for expr in walk::own_expressions(stmt) {
            let is_left = targets.iter().any(|target| std::ptr::eq(target, expr));
            walk::expressions(expr, &mut |part| {
                if let ExprKind::Attribute { attr, .. } = &part.kind {
                    let kept = if is_left && std::ptr::eq(part, expr) { &mut left } else { &mut others };
                    kept.insert(attr.as_str());
                }
                true
            });
        }
    };
    for module in modules {
        walk::all_statements(module, &mut |stmt| {
            if matches!(&stmt.kind, StmtKind::Function(function) if function.name == "forward") {
                walk::all_of(stmt, &mut read);
            }
        });
    }
    left.difference(&others).map(|&attr| attr.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{left_by_forward, words};
    use crate::source::Source;
    use crate::syntax::File;

    #[test]
    fn every_word_is_a_name() {
        let text = "net.fc1(x)  # über\nsetattr(net, 'aux_loss', f\"{2e5}\")";
        let expected = ["net", "fc1", "x", "über", "setattr", "net", "aux_loss", "f", "2e5"];
        assert_eq!(words(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_only_calls_of_modules_set() {
        let text = "
class Net(Module):
    def forward(self, x):
        self.aux = self.scale = self.fc(x)
        self.count += 1
        self.a, self.b = x
        def inner():
            self.late = 1
        return x * self.scale
    def other(self):
        self.else_where = 1
        return self.aux
";
        let file = File::script(Source::new("f.py", text), "").unwrap();
        assert_eq!(left_by_forward([&file.module]).into_iter().collect::<Vec<_>>(), ["aux", "late"]);
    }
}
