//! The parser's tree to ours.

use super::parse::to_range;
use super::tree::{
    Call, Case, Class, Clause, Expr, ExprKind, For, Function, Handler, Import, Literal, Module, Param, ParamKind, Stmt,
    StmtKind,
};
use rustpython_parser::ast::{self, Ranged};

/// Numbers the statements as it goes.
#[derive(Default)]
pub(super) struct Lowering {
    next_id: usize,
}

impl Lowering {
    pub(super) fn module(mut self, module: ast::ModModule) -> Module {
        Module { body: self.suite(module.body) }
    }

    fn suite(&mut self, suite: Vec<ast::Stmt>) -> Vec<Stmt> {
        suite.into_iter().map(|stmt| self.stmt(stmt)).collect()
    }

    fn stmt(&mut self, stmt: ast::Stmt) -> Stmt {
        let id = self.next_id;
        self.next_id += 1;
        let mut range = to_range(stmt.range());
        let kind = self.kind(stmt);
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

    fn kind(&mut self, stmt: ast::Stmt) -> StmtKind {
        match stmt {
            ast::Stmt::FunctionDef(def) => StmtKind::Function(Box::new(Function {
                name: def.name.to_string(),
                params: params(*def.args),
                decorators: exprs(def.decorator_list),
                returns: def.returns.map(|value| expr(*value)),
                body: self.suite(def.body),
                is_async: false,
            })),
            ast::Stmt::AsyncFunctionDef(def) => StmtKind::Function(Box::new(Function {
                name: def.name.to_string(),
                params: params(*def.args),
                decorators: exprs(def.decorator_list),
                returns: def.returns.map(|value| expr(*value)),
                body: self.suite(def.body),
                is_async: true,
            })),
            ast::Stmt::ClassDef(def) => {
                let mut bases = exprs(def.bases);
                bases.extend(def.keywords.into_iter().map(|keyword| expr(keyword.value)));
                let decorators = exprs(def.decorator_list);
                StmtKind::Class(Box::new(Class {
                    name: def.name.to_string(),
                    bases,
                    decorators,
                    body: self.suite(def.body),
                }))
            }
            ast::Stmt::For(stmt) => StmtKind::For(Box::new(For {
                target: expr(*stmt.target),
                iter: expr(*stmt.iter),
                body: self.suite(stmt.body),
                orelse: self.suite(stmt.orelse),
                is_async: false,
            })),
            ast::Stmt::AsyncFor(stmt) => StmtKind::For(Box::new(For {
                target: expr(*stmt.target),
                iter: expr(*stmt.iter),
                body: self.suite(stmt.body),
                orelse: self.suite(stmt.orelse),
                is_async: true,
            })),
            ast::Stmt::While(stmt) => {
                StmtKind::While { test: expr(*stmt.test), body: self.suite(stmt.body), orelse: self.suite(stmt.orelse) }
            }
            ast::Stmt::If(stmt) => {
                StmtKind::If { test: expr(*stmt.test), body: self.suite(stmt.body), orelse: self.suite(stmt.orelse) }
            }
            ast::Stmt::With(stmt) => {
                StmtKind::With { items: with_items(stmt.items), body: self.suite(stmt.body), is_async: false }
            }
            ast::Stmt::AsyncWith(stmt) => {
                StmtKind::With { items: with_items(stmt.items), body: self.suite(stmt.body), is_async: true }
            }
            ast::Stmt::Match(stmt) => StmtKind::Match {
                subject: expr(*stmt.subject),
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
            simple => simple_statement(simple),
        }
    }

    fn case(&mut self, case: ast::MatchCase) -> Case {
        let (mut binds, mut values) = (Vec::new(), Vec::new());
        pattern(case.pattern, &mut binds, &mut values);
        Case { binds, values, guard: case.guard.map(|guard| expr(*guard)), body: self.suite(case.body) }
    }

    fn handlers(&mut self, handlers: Vec<ast::ExceptHandler>) -> Vec<Handler> {
        handlers
            .into_iter()
            .map(|ast::ExceptHandler::ExceptHandler(handler)| Handler {
                range: to_range(handler.range),
                kind: handler.type_.map(|kind| expr(*kind)),
                name: handler.name.map(|name| name.to_string()),
                body: self.suite(handler.body),
            })
            .collect()
    }
}

fn simple_statement(stmt: ast::Stmt) -> StmtKind {
    match stmt {
        ast::Stmt::Return(stmt) => StmtKind::Return(stmt.value.map(|value| expr(*value))),
        ast::Stmt::Delete(stmt) => StmtKind::Delete(exprs(stmt.targets)),
        ast::Stmt::Assign(stmt) => StmtKind::Assign { targets: exprs(stmt.targets), value: expr(*stmt.value) },
        ast::Stmt::AugAssign(stmt) => StmtKind::AugAssign { target: expr(*stmt.target), value: expr(*stmt.value) },
        ast::Stmt::AnnAssign(stmt) => StmtKind::AnnAssign {
            target: expr(*stmt.target),
            annotation: expr(*stmt.annotation),
            value: stmt.value.map(|value| expr(*value)),
        },
        ast::Stmt::Raise(stmt) => {
            StmtKind::Raise([stmt.exc, stmt.cause].into_iter().flatten().map(|value| expr(*value)).collect())
        }
        ast::Stmt::Assert(stmt) => {
            StmtKind::Assert([Some(stmt.test), stmt.msg].into_iter().flatten().map(|value| expr(*value)).collect())
        }
        ast::Stmt::Import(stmt) => StmtKind::Import(stmt.names.iter().map(plain_import).collect()),
        ast::Stmt::ImportFrom(stmt) => StmtKind::Import(from_imports(&stmt)),
        ast::Stmt::Global(stmt) => StmtKind::Global(stmt.names.iter().map(ToString::to_string).collect()),
        ast::Stmt::Nonlocal(stmt) => StmtKind::Nonlocal(stmt.names.iter().map(ToString::to_string).collect()),
        ast::Stmt::Expr(stmt) => StmtKind::Expr(expr(*stmt.value)),
        ast::Stmt::TypeAlias(stmt) => StmtKind::TypeAlias {
            name: match *stmt.name {
                ast::Expr::Name(name) => name.id.to_string(),
                _ => String::new(),
            },
        },
        ast::Stmt::Break(_) => StmtKind::Break,
        ast::Stmt::Continue(_) => StmtKind::Continue,
        _ => StmtKind::Pass,
    }
}

/// `import a.b` binds `a` to the package; `import a.b as c` binds `c` to `a.b`.
fn plain_import(alias: &ast::Alias) -> Import {
    let name = alias.name.as_str();
    let package = name.split('.').next().unwrap_or(name);
    match &alias.asname {
        Some(local) => {
            Import { local: local.to_string(), dotted: name.to_owned(), module: name.to_owned(), is_future: false }
        }
        None => {
            Import { local: package.to_owned(), dotted: package.to_owned(), module: name.to_owned(), is_future: false }
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
            local: alias.asname.as_ref().unwrap_or(&alias.name).to_string(),
            dotted: if module.is_empty() { format!("{base}{}", alias.name) } else { format!("{base}.{}", alias.name) },
            module: base.clone(),
            is_future,
        })
        .collect()
}

fn with_items(items: Vec<ast::WithItem>) -> Vec<(Expr, Option<Expr>)> {
    items.into_iter().map(|item| (expr(item.context_expr), item.optional_vars.map(|target| expr(*target)))).collect()
}

fn params(args: ast::Arguments) -> Vec<Param> {
    let plain = |arg: ast::Arg, kind, default: Option<Box<ast::Expr>>| Param {
        name: arg.arg.to_string(),
        kind,
        annotation: arg.annotation.map(|value| expr(*value)),
        default: default.map(|value| expr(*value)),
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

fn pattern(pattern_node: ast::Pattern, binds: &mut Vec<String>, values: &mut Vec<Expr>) {
    match pattern_node {
        ast::Pattern::MatchValue(node) => values.push(expr(*node.value)),
        ast::Pattern::MatchSingleton(_) => {}
        ast::Pattern::MatchSequence(node) => node.patterns.into_iter().for_each(|p| pattern(p, binds, values)),
        ast::Pattern::MatchMapping(node) => {
            values.extend(exprs(node.keys));
            node.patterns.into_iter().for_each(|p| pattern(p, binds, values));
            binds.extend(node.rest.map(|name| name.to_string()));
        }
        ast::Pattern::MatchClass(node) => {
            values.push(expr(*node.cls));
            node.patterns.into_iter().chain(node.kwd_patterns).for_each(|p| pattern(p, binds, values));
        }
        ast::Pattern::MatchStar(node) => binds.extend(node.name.map(|name| name.to_string())),
        ast::Pattern::MatchAs(node) => {
            if let Some(inner) = node.pattern {
                pattern(*inner, binds, values);
            }
            binds.extend(node.name.map(|name| name.to_string()));
        }
        ast::Pattern::MatchOr(node) => node.patterns.into_iter().for_each(|p| pattern(p, binds, values)),
    }
}

fn exprs(list: Vec<ast::Expr>) -> Vec<Expr> {
    list.into_iter().map(expr).collect()
}

fn boxed(value: Box<ast::Expr>) -> Box<Expr> {
    Box::new(expr(*value))
}

fn expr(node: ast::Expr) -> Expr {
    let range = to_range(node.range());
    Expr { range, kind: expr_kind(node) }
}

fn expr_kind(node: ast::Expr) -> ExprKind {
    match node {
        ast::Expr::Name(node) => ExprKind::Name(node.id.to_string()),
        ast::Expr::Attribute(node) => ExprKind::Attribute { value: boxed(node.value), attr: node.attr.to_string() },
        ast::Expr::Subscript(node) => ExprKind::Subscript { value: boxed(node.value), index: boxed(node.slice) },
        ast::Expr::Call(node) => ExprKind::Call(Box::new(Call {
            callee: expr(*node.func),
            args: exprs(node.args),
            keywords: node
                .keywords
                .into_iter()
                .map(|keyword| (keyword.arg.map(|name| name.to_string()), expr(keyword.value)))
                .collect(),
        })),
        ast::Expr::BoolOp(node) => ExprKind::Choice(exprs(node.values)),
        ast::Expr::IfExp(node) => {
            // The condition is evaluated but never yielded; as a part it only adds a harmless candidate.
            ExprKind::Choice(vec![expr(*node.test), expr(*node.body), expr(*node.orelse)])
        }
        ast::Expr::BinOp(node) => ExprKind::Operation(vec![expr(*node.left), expr(*node.right)]),
        ast::Expr::UnaryOp(node) => ExprKind::Operation(vec![expr(*node.operand)]),
        ast::Expr::Compare(node) => {
            let mut parts = vec![expr(*node.left)];
            parts.extend(exprs(node.comparators));
            ExprKind::Operation(parts)
        }
        ast::Expr::JoinedStr(node) => ExprKind::Operation(exprs(node.values)),
        ast::Expr::FormattedValue(node) => {
            let mut parts = vec![expr(*node.value)];
            parts.extend(node.format_spec.map(|spec| expr(*spec)));
            ExprKind::Operation(parts)
        }
        ast::Expr::Slice(node) => ExprKind::Operation(
            [node.lower, node.upper, node.step].into_iter().flatten().map(|part| expr(*part)).collect(),
        ),
        ast::Expr::List(node) => ExprKind::Display { items: exprs(node.elts), is_tuple_or_list: true },
        ast::Expr::Tuple(node) => ExprKind::Display { items: exprs(node.elts), is_tuple_or_list: true },
        ast::Expr::Set(node) => ExprKind::Display { items: exprs(node.elts), is_tuple_or_list: false },
        ast::Expr::Dict(node) => {
            let mut items = Vec::new();
            for (key, value) in node.keys.into_iter().zip(node.values) {
                items.extend(key.map(expr));
                items.push(expr(value));
            }
            ExprKind::Display { items, is_tuple_or_list: false }
        }
        ast::Expr::ListComp(node) => comprehension(vec![*node.elt], node.generators, false),
        ast::Expr::SetComp(node) => comprehension(vec![*node.elt], node.generators, false),
        ast::Expr::DictComp(node) => comprehension(vec![*node.key, *node.value], node.generators, false),
        ast::Expr::GeneratorExp(node) => comprehension(vec![*node.elt], node.generators, true),
        ast::Expr::Lambda(node) => ExprKind::Lambda { params: params(*node.args), body: boxed(node.body) },
        ast::Expr::NamedExpr(node) => ExprKind::Named { target: boxed(node.target), value: boxed(node.value) },
        ast::Expr::Starred(node) => ExprKind::Starred(boxed(node.value)),
        ast::Expr::Await(node) => ExprKind::Await(boxed(node.value)),
        ast::Expr::Yield(node) => ExprKind::Yield(node.value.map(boxed)),
        ast::Expr::YieldFrom(node) => ExprKind::Yield(Some(boxed(node.value))),
        ast::Expr::Constant(node) => constant(node.value),
    }
}

fn comprehension(elements: Vec<ast::Expr>, generators: Vec<ast::Comprehension>, is_generator: bool) -> ExprKind {
    ExprKind::Comprehension {
        elements: exprs(elements),
        clauses: generators
            .into_iter()
            .map(|clause| Clause {
                target: expr(clause.target),
                iter: expr(clause.iter),
                conditions: exprs(clause.ifs),
                is_async: clause.is_async,
            })
            .collect(),
        is_generator,
    }
}

fn constant(value: ast::Constant) -> ExprKind {
    ExprKind::Constant(match value {
        ast::Constant::Bool(true) => Literal::True,
        ast::Constant::Bool(false) => Literal::False,
        ast::Constant::None => Literal::None,
        ast::Constant::Str(text) => Literal::Str(text),
        ast::Constant::Int(_) | ast::Constant::Float(_) | ast::Constant::Complex { .. } => Literal::Number,
        _ => Literal::Other,
    })
}
