//! The imports that a script begins with.

use crate::syntax::File;
use crate::syntax::tree::{ExprKind, Literal, StmtKind};

/// An import statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leading {
    /// As it is written.
    pub text: String,
    /// The packages that its modules are in: `torch` for `from torch import nn`.
    pub packages: Vec<String>,
}

/// The import statements of a script up to its first other statement or relative import. Its docstring and what is imported
/// from `__future__` are not among them.
pub fn leading_imports(file: &File) -> Vec<Leading> {
    let mut found = Vec::new();
    for (at, stmt) in file.module.body.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Import(imports) if imports.iter().any(|import| import.is_future) => {}
            StmtKind::Import(imports) if imports.iter().all(|import| !import.module.starts_with('.')) => {
                let package = |module: &str| module.split('.').next().unwrap_or(module).to_owned();
                let mut packages: Vec<String> = imports.iter().map(|import| package(&import.module)).collect();
                packages.dedup();
                found.push(Leading { text: file.source.slice(stmt.range).to_owned(), packages });
            }
            StmtKind::Expr(value) if at == 0 && matches!(value.kind, ExprKind::Constant(Literal::Str(_))) => {}
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::leading_imports;
    use crate::Source;
    use crate::syntax::File;

    fn found(text: &str) -> Vec<String> {
        let file = File::script(Source::new("train.py", text), "").unwrap();
        leading_imports(&file).iter().map(|one| format!("{}: {}", one.text, one.packages.join(" "))).collect()
    }

    #[test]
    fn up_to_the_first_other_statement() {
        let text = "'''Trains.'''\nfrom __future__ import annotations\nimport os, numpy.random as r\nfrom torch import (\n  nn,\n  \
                    optim)\nos.nice(1)\nimport json\n";
        let expected = ["import os, numpy.random as r: os numpy", "from torch import (\n  nn,\n  optim): torch"];
        assert_eq!(found(text), expected);
    }

    #[test]
    fn up_to_the_first_module_of_its_package() {
        assert_eq!(
            found("import math; import re\nfrom . import model\nimport json\n"),
            ["import math: math", "import re: re"]
        );
        assert!(found("print(1)\nimport json\n").is_empty());
        assert!(found("try:\n  import json\nexcept ImportError: pass\n").is_empty());
    }
}
