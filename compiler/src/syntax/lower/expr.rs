//! Expressions.

use super::check::Binding;
use super::lowering::Lowering;
use crate::name::Name;
use crate::syntax::range::to_range;
use crate::syntax::tree::{Call, Clause, Expr, ExprKind, Literal};
use rustpython_parser::ast::{self, Ranged};

impl Lowering<'_> {
    pub(super) fn exprs(&mut self, list: Vec<ast::Expr>) -> Vec<Expr> {
        list.into_iter().map(|value| self.expr(value)).collect()
    }

    pub(super) fn boxed(&mut self, value: Box<ast::Expr>) -> Box<Expr> {
        Box::new(self.expr(*value))
    }

    pub(super) fn expr(&mut self, node: ast::Expr) -> Expr {
        let range = to_range(node.range());
        if !self.enter(range) {
            // To drop it would need as deep a stack as to lower it; the process ends soon.
            std::mem::forget(node);
            return Expr { range, kind: ExprKind::Constant(Literal::Other) };
        }
        let kind = self.expr_kind(node);
        self.leave();
        Expr { range, kind }
    }

    fn expr_kind(&mut self, node: ast::Expr) -> ExprKind {
        match node {
            ast::Expr::Name(node) => ExprKind::Name(Name::new(&node.id)),
            ast::Expr::Attribute(node) => {
                ExprKind::Attribute { value: self.boxed(node.value), attr: Name::new(&node.attr) }
            }
            ast::Expr::Subscript(node) => {
                ExprKind::Subscript { value: self.boxed(node.value), index: self.boxed(node.slice) }
            }
            ast::Expr::Call(node) => self.call(node),
            ast::Expr::BoolOp(node) => ExprKind::Choice(self.exprs(node.values)),
            ast::Expr::IfExp(node) => {
                // The condition is evaluated but never yielded; as a part it only adds a harmless candidate.
                ExprKind::Choice(vec![self.expr(*node.test), self.expr(*node.body), self.expr(*node.orelse)])
            }
            ast::Expr::BinOp(node) => self.chain(node),
            ast::Expr::UnaryOp(node) => ExprKind::Operation(vec![self.expr(*node.operand)]),
            ast::Expr::Compare(node) => {
                let mut parts = vec![self.expr(*node.left)];
                parts.extend(self.exprs(node.comparators));
                ExprKind::Operation(parts)
            }
            // Our lexer makes none of these: see `lexer/format.rs`.
            ast::Expr::JoinedStr(node) => ExprKind::Operation(self.exprs(node.values)),
            ast::Expr::FormattedValue(node) => ExprKind::Operation(vec![self.expr(*node.value)]),
            ast::Expr::Slice(node) => ExprKind::Operation(
                [node.lower, node.upper, node.step].into_iter().flatten().map(|part| self.expr(*part)).collect(),
            ),
            ast::Expr::List(node) => ExprKind::Display { items: self.exprs(node.elts), is_tuple_or_list: true },
            ast::Expr::Tuple(node) if self.formatted(to_range(node.range)).is_some() => self.fields(node),
            ast::Expr::Tuple(node) => ExprKind::Display { items: self.exprs(node.elts), is_tuple_or_list: true },
            ast::Expr::Set(node) => ExprKind::Display { items: self.exprs(node.elts), is_tuple_or_list: false },
            ast::Expr::Dict(node) => {
                let mut items = Vec::new();
                for (key, value) in node.keys.into_iter().zip(node.values) {
                    items.extend(key.map(|value| self.expr(value)));
                    items.push(self.expr(value));
                }
                ExprKind::Display { items, is_tuple_or_list: false }
            }
            ast::Expr::ListComp(node) => self.comprehension(vec![*node.elt], node.generators, false),
            ast::Expr::SetComp(node) => self.comprehension(vec![*node.elt], node.generators, false),
            ast::Expr::DictComp(node) => self.comprehension(vec![*node.key, *node.value], node.generators, false),
            ast::Expr::GeneratorExp(node) => self.comprehension(vec![*node.elt], node.generators, true),
            ast::Expr::Lambda(node) => {
                ExprKind::Lambda { params: self.params(*node.args), body: self.boxed(node.body) }
            }
            ast::Expr::NamedExpr(node) => {
                ExprKind::Named { target: self.boxed(node.target), value: self.boxed(node.value) }
            }
            ast::Expr::Starred(node) => ExprKind::Starred(self.boxed(node.value)),
            ast::Expr::Await(node) => ExprKind::Await(self.boxed(node.value)),
            ast::Expr::Yield(node) => ExprKind::Yield(node.value.map(|value| self.boxed(value))),
            ast::Expr::YieldFrom(node) => ExprKind::Yield(Some(self.boxed(node.value))),
            ast::Expr::Constant(node) => constant(node.value),
        }
    }

    fn call(&mut self, node: ast::ExprCall) -> ExprKind {
        self.check_arguments(&node.args, node.keywords.len(), to_range(node.range).end, false);
        ExprKind::Call(Box::new(Call {
            callee: self.expr(*node.func),
            args: self.exprs(node.args),
            keywords: node
                .keywords
                .into_iter()
                .map(|keyword| (keyword.arg.map(|name| Name::new(&name)), self.expr(keyword.value)))
                .collect(),
        }))
    }

    /// `a + b + c` is one operation of three parts, so that generated sums of thousands of terms are not deep.
    fn chain(&mut self, node: ast::ExprBinOp) -> ExprKind {
        let mut terms = vec![*node.right];
        let mut left = *node.left;
        while let ast::Expr::BinOp(inner) = left {
            terms.push(*inner.right);
            left = *inner.left;
        }
        terms.push(left);
        terms.reverse();
        ExprKind::Operation(self.exprs(terms))
    }

    /// The tuple that stands for a formatted string: an empty string, then the fields.
    fn fields(&mut self, node: ast::ExprTuple) -> ExprKind {
        let keeps_objects = self.formatted(to_range(node.range)).is_some_and(|run| run.is_template);
        let is_field = |part: &ast::Expr| !matches!(part, ast::Expr::Constant(part) if part.value.is_str());
        let first = node.elts.iter().take(1).any(is_field);
        let fields = self.exprs(node.elts.into_iter().skip(usize::from(!first)).collect());
        if keeps_objects {
            ExprKind::Display { items: fields, is_tuple_or_list: false }
        } else {
            ExprKind::Operation(fields)
        }
    }

    fn comprehension(
        &mut self,
        elements: Vec<ast::Expr>,
        generators: Vec<ast::Comprehension>,
        is_generator: bool,
    ) -> ExprKind {
        elements.iter().for_each(|element| self.check_element(element));
        ExprKind::Comprehension {
            elements: self.exprs(elements),
            clauses: generators
                .into_iter()
                .map(|clause| Clause {
                    target: self.target(clause.target, Binding::Assign),
                    iter: self.expr(clause.iter),
                    conditions: self.exprs(clause.ifs),
                    is_async: clause.is_async,
                })
                .collect(),
            is_generator,
        }
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
