//! Names in added statements that exist nowhere: said before the script's imports run, not when the statement is reached.

use crate::analysis::Analysis;
use crate::name::Name;
use crate::scopes::{is_builtin, reads};
use crate::syntax::tree::Stmt;
use crate::syntax::walk;

/// What may bind names that no statement shows.
const BINDS_UNSEEN: [&str; 6] = ["import *", "exec(", "globals(", "builtins", "__dict__", "setattr("];

/// What IPython binds in a notebook, besides names that begin with `_`.
const OF_IPYTHON: [&str; 2] = ["In", "Out"];

/// The names that an added statement reads and nothing binds, in order; none where something may bind names unseen.
pub fn unbound(analysis: &Analysis, stmt: &Stmt) -> Vec<String> {
    let scopes = &analysis.project.scopes;
    let file = scopes.list[scopes.holder(stmt.id)].file;
    let text = &analysis.files[file].source.text;
    let mut found: Vec<String> = Vec::new();
    if BINDS_UNSEEN.iter().any(|word| text.contains(word)) {
        return found;
    }
    walk::all_of(stmt, &mut |inner| {
        let scope = scopes.holder(inner.id);
        for expr in walk::own_expressions(inner) {
            reads(expr, &mut |name: Name, _| {
                let is_given = name.as_str().starts_with('_') || OF_IPYTHON.contains(&name.as_str());
                let is_new = !found.iter().any(|known| known == name.as_str());
                if is_new && !is_given && !is_builtin(name) && scopes.resolve(scope, name).is_none() {
                    found.push(name.to_string());
                }
            });
        }
    });
    found
}
