//! Statements of the parser's tree to ours.

use super::check::Binding;
use super::lowering::Lowering;
use crate::diagnostics::Diagnostic;
use crate::name::Name;
use crate::source::Range;
use crate::syntax::range::to_range;
use crate::syntax::tree::{
    Case, Class, Expr, ExprKind, For, Function, Handler, Import, Module, Param, ParamKind, Stmt, StmtKind,
};
use rustpython_parser::ast::{self, Ranged};

impl Lowering<'_> {
    pub(in crate::syntax) fn module(mut self, module: ast::ModModule) -> Result<Module, Diagnostic> {
        let body = self.suite(module.body);
        let module = Module { body, depth: self.deepest };
        self.error.map_or(Ok(module), Err)
    }

    /// Lowers an expression that has no place in the tree, for its errors.
    pub(in crate::syntax) fn aside(mut self, node: ast::Expr) -> Result<(), Diagnostic> {
        self.expr(node);
        self.error.map_or(Ok(()), Err)
    }

    fn suite(&mut self, suite: Vec<ast::Stmt>) -> Vec<Stmt> {
        suite.into_iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: ast::Stmt) -> Stmt {
        let id = self.next_id;
        self.next_id = id.next();
        let mut range = to_range(stmt.range());
        if !self.enter(range) {
            // To drop it would need as deep a stack as to lower it; the process ends soon.
            std::mem::forget(stmt);
            return Stmt { id, range, kind: StmtKind::Pass };
        }
        let kind = self.kind(stmt);
        self.leave();
        let decorators: &[Expr] = match &kind {
            StmtKind::Function(function) => &function.decorators,
            StmtKind::Class(class) => &class.decorators,
            _ => &[],
        };
        if let Some(first) = decorators.first() {
            range.start = range.start.min(first.range.start);
        }
        Stmt { id, range, kind }
    }

    pub(super) fn target(&mut self, target: ast::Expr, binding: Binding) -> Expr {
        self.check_target(&target, binding);
        self.expr(target)
    }

    fn targets(&mut self, targets: Vec<ast::Expr>, binding: Binding) -> Vec<Expr> {
        targets.into_iter().map(|target| self.target(target, binding)).collect()
    }

    fn kind(&mut self, stmt: ast::Stmt) -> StmtKind {
        match stmt {
            ast::Stmt::FunctionDef(def) => StmtKind::Function(Box::new(Function {
                name: Name::new(&def.name),
                params: self.params(*def.args),
                decorators: self.exprs(def.decorator_list),
                returns: def.returns.map(|value| self.expr(*value)),
                body: self.suite(def.body),
                is_async: false,
            })),
            ast::Stmt::AsyncFunctionDef(def) => StmtKind::Function(Box::new(Function {
                name: Name::new(&def.name),
                params: self.params(*def.args),
                decorators: self.exprs(def.decorator_list),
                returns: def.returns.map(|value| self.expr(*value)),
                body: self.suite(def.body),
                is_async: true,
            })),
            ast::Stmt::ClassDef(def) => {
                let end = def.body.first().map_or(self.text.len(), |first| to_range(first.range()).start);
                self.check_arguments(&def.bases, def.keywords.len(), end, true);
                let mut bases = self.exprs(def.bases);
                bases.extend(def.keywords.into_iter().map(|keyword| self.expr(keyword.value)));
                let decorators = self.exprs(def.decorator_list);
                StmtKind::Class(Box::new(Class {
                    name: Name::new(&def.name),
                    bases,
                    decorators,
                    body: self.suite(def.body),
                }))
            }
            ast::Stmt::For(stmt) => StmtKind::For(Box::new(For {
                target: self.target(*stmt.target, Binding::Assign),
                iter: self.expr(*stmt.iter),
                body: self.suite(stmt.body),
                orelse: self.suite(stmt.orelse),
                is_async: false,
            })),
            ast::Stmt::AsyncFor(stmt) => StmtKind::For(Box::new(For {
                target: self.target(*stmt.target, Binding::Assign),
                iter: self.expr(*stmt.iter),
                body: self.suite(stmt.body),
                orelse: self.suite(stmt.orelse),
                is_async: true,
            })),
            ast::Stmt::While(stmt) => StmtKind::While {
                test: self.expr(*stmt.test),
                body: self.suite(stmt.body),
                orelse: self.suite(stmt.orelse),
            },
            ast::Stmt::If(stmt) => StmtKind::If {
                test: self.expr(*stmt.test),
                body: self.suite(stmt.body),
                orelse: self.suite(stmt.orelse),
            },
            ast::Stmt::With(stmt) => {
                StmtKind::With { items: self.with_items(stmt.items), body: self.suite(stmt.body), is_async: false }
            }
            ast::Stmt::AsyncWith(stmt) => {
                StmtKind::With { items: self.with_items(stmt.items), body: self.suite(stmt.body), is_async: true }
            }
            ast::Stmt::Match(stmt) => StmtKind::Match {
                subject: self.subject(*stmt.subject),
                cases: stmt.cases.into_iter().map(|case| self.case(case)).collect(),
            },
            ast::Stmt::Try(stmt) => StmtKind::Try {
                body: self.suite(stmt.body),
                handlers: self.handlers(stmt.handlers),
                orelse: self.suite(stmt.orelse),
                finalbody: self.suite(stmt.finalbody),
            },
            ast::Stmt::TryStar(stmt) => StmtKind::Try {
                body: self.suite(stmt.body),
                handlers: self.handlers(stmt.handlers),
                orelse: self.suite(stmt.orelse),
                finalbody: self.suite(stmt.finalbody),
            },
            simple => self.simple_statement(simple),
        }
    }

    /// The grammar gives the tuple of `match a, b:` the range of the whole statement.
    fn subject(&mut self, subject: ast::Expr) -> Expr {
        let mut subject = self.expr(subject);
        if let ExprKind::Display { items, .. } = &subject.kind
            && let [first, .., last] = items.as_slice()
            && self.text[subject.range.start..].starts_with("match")
        {
            subject.range = Range::new(first.range.start, last.range.end);
        }
        subject
    }

    fn case(&mut self, case: ast::MatchCase) -> Case {
        let (mut binds, mut values) = (Vec::new(), Vec::new());
        self.pattern(case.pattern, &mut binds, &mut values);
        Case { binds, values, guard: case.guard.map(|guard| self.expr(*guard)), body: self.suite(case.body) }
    }

    fn handlers(&mut self, handlers: Vec<ast::ExceptHandler>) -> Vec<Handler> {
        handlers
            .into_iter()
            .map(|ast::ExceptHandler::ExceptHandler(handler)| Handler {
                range: to_range(handler.range),
                kind: handler.type_.map(|kind| self.expr(*kind)),
                name: handler.name.map(|name| Name::new(&name)),
                body: self.suite(handler.body),
            })
            .collect()
    }

    fn simple_statement(&mut self, stmt: ast::Stmt) -> StmtKind {
        match stmt {
            ast::Stmt::Return(stmt) => StmtKind::Return(stmt.value.map(|value| self.expr(*value))),
            ast::Stmt::Delete(stmt) => StmtKind::Delete(self.targets(stmt.targets, Binding::Delete)),
            ast::Stmt::Assign(stmt) => {
                StmtKind::Assign { targets: self.targets(stmt.targets, Binding::Assign), value: self.expr(*stmt.value) }
            }
            ast::Stmt::AugAssign(stmt) => StmtKind::AugAssign {
                target: self.target(*stmt.target, Binding::Augmented),
                value: self.expr(*stmt.value),
            },
            ast::Stmt::AnnAssign(stmt) => StmtKind::AnnAssign {
                target: self.target(*stmt.target, Binding::Annotated),
                annotation: self.expr(*stmt.annotation),
                value: stmt.value.map(|value| self.expr(*value)),
            },
            ast::Stmt::Raise(stmt) => {
                StmtKind::Raise([stmt.exc, stmt.cause].into_iter().flatten().map(|value| self.expr(*value)).collect())
            }
            ast::Stmt::Assert(stmt) => StmtKind::Assert(
                [Some(stmt.test), stmt.msg].into_iter().flatten().map(|value| self.expr(*value)).collect(),
            ),
            ast::Stmt::Import(stmt) => StmtKind::Import(stmt.names.iter().map(plain_import).collect()),
            ast::Stmt::ImportFrom(stmt) => StmtKind::Import(from_imports(&stmt)),
            ast::Stmt::Global(stmt) => StmtKind::Global(stmt.names.iter().map(|name| Name::new(name)).collect()),
            ast::Stmt::Nonlocal(stmt) => StmtKind::Nonlocal(stmt.names.iter().map(|name| Name::new(name)).collect()),
            ast::Stmt::Expr(stmt) => StmtKind::Expr(self.expr(*stmt.value)),
            ast::Stmt::TypeAlias(stmt) => StmtKind::TypeAlias {
                name: match *stmt.name {
                    ast::Expr::Name(name) => Name::new(&name.id),
                    _ => Name::NONE,
                },
            },
            ast::Stmt::Break(_) => StmtKind::Break,
            ast::Stmt::Continue(_) => StmtKind::Continue,
            _ => StmtKind::Pass,
        }
    }

    fn with_items(&mut self, items: Vec<ast::WithItem>) -> Vec<(Expr, Option<Expr>)> {
        items
            .into_iter()
            .map(|item| {
                (self.expr(item.context_expr), item.optional_vars.map(|target| self.target(*target, Binding::Assign)))
            })
            .collect()
    }

    pub(super) fn params(&mut self, args: ast::Arguments) -> Vec<Param> {
        let mut plain = |arg: ast::Arg, kind, default: Option<Box<ast::Expr>>| Param {
            name: Name::new(&arg.arg),
            kind,
            annotation: arg.annotation.map(|value| self.expr(*value)),
            default: default.map(|value| self.expr(*value)),
        };
        let mut out = Vec::new();
        for arg in args.posonlyargs.into_iter().chain(args.args) {
            out.push(plain(arg.def, ParamKind::Positional, arg.default));
        }
        if let Some(arg) = args.vararg {
            out.push(plain(*arg, ParamKind::VarArgs, None));
        }
        for arg in args.kwonlyargs {
            out.push(plain(arg.def, ParamKind::KeywordOnly, arg.default));
        }
        if let Some(arg) = args.kwarg {
            out.push(plain(*arg, ParamKind::KwArgs, None));
        }
        out
    }
}

/// `import a.b` binds `a` to the package; `import a.b as c` binds `c` to `a.b`.
fn plain_import(alias: &ast::Alias) -> Import {
    let name = alias.name.as_str();
    let package = name.split('.').next().unwrap_or(name);
    match &alias.asname {
        Some(local) => {
            Import { local: Name::new(local), dotted: name.to_owned(), module: name.to_owned(), is_future: false }
        }
        None => {
            Import { local: Name::new(package), dotted: package.to_owned(), module: name.to_owned(), is_future: false }
        }
    }
}

/// Relative imports keep their leading dots in `dotted`.
fn from_imports(stmt: &ast::StmtImportFrom) -> Vec<Import> {
    let dots = stmt.level.as_ref().map_or(0, |level| level.to_usize());
    let module = stmt.module.as_ref().map_or("", |module| module.as_str());
    let base = format!("{}{module}", ".".repeat(dots));
    let is_future = base == "__future__";
    stmt.names
        .iter()
        .map(|alias| Import {
            local: Name::new(alias.asname.as_ref().unwrap_or(&alias.name)),
            dotted: if module.is_empty() { format!("{base}{}", alias.name) } else { format!("{base}.{}", alias.name) },
            module: base.clone(),
            is_future,
        })
        .collect()
}
