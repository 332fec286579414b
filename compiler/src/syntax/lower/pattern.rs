//! Patterns of `case`: the names they bind and the expressions they evaluate.

use super::lowering::Lowering;
use crate::name::Name;
use crate::syntax::range::to_range;
use crate::syntax::tree::Expr;
use rustpython_parser::ast::{self, Ranged};

impl Lowering<'_> {
    pub(super) fn pattern(&mut self, pattern_node: ast::Pattern, binds: &mut Vec<Name>, values: &mut Vec<Expr>) {
        self.check_pattern(&pattern_node);
        match pattern_node {
            ast::Pattern::MatchValue(node) => values.push(self.expr(*node.value)),
            ast::Pattern::MatchSingleton(_) => {}
            ast::Pattern::MatchSequence(node) => {
                for inner in node.patterns {
                    // A star is at home here alone.
                    match inner {
                        ast::Pattern::MatchStar(star) => binds.extend(star.name.map(|name| Name::new(&name))),
                        other => self.pattern(other, binds, values),
                    }
                }
            }
            ast::Pattern::MatchMapping(node) => {
                values.extend(self.exprs(node.keys));
                node.patterns.into_iter().for_each(|p| self.pattern(p, binds, values));
                binds.extend(node.rest.map(|name| Name::new(&name)));
            }
            ast::Pattern::MatchClass(node) => {
                values.push(self.expr(*node.cls));
                node.patterns.into_iter().chain(node.kwd_patterns).for_each(|p| self.pattern(p, binds, values));
            }
            ast::Pattern::MatchStar(node) => {
                self.reject("a starred pattern stands only in a sequence", to_range(node.range));
            }
            ast::Pattern::MatchAs(node) => {
                if let Some(inner) = node.pattern {
                    self.pattern(*inner, binds, values);
                }
                binds.extend(node.name.map(|name| Name::new(&name)));
            }
            ast::Pattern::MatchOr(node) => node.patterns.into_iter().for_each(|p| self.pattern(p, binds, values)),
        }
    }

    fn check_pattern(&mut self, pattern: &ast::Pattern) {
        match pattern {
            ast::Pattern::MatchSequence(node) if self.formatted(to_range(node.range)).is_some() => {
                self.reject("a pattern cannot be a formatted string", to_range(node.range));
            }
            ast::Pattern::MatchMapping(node) if node.rest.as_deref() == Some("_") => {
                self.reject("`**_` is no pattern", to_range(node.range));
            }
            ast::Pattern::MatchMapping(node) => node.keys.iter().for_each(|key| self.check_sum(key)),
            ast::Pattern::MatchValue(node) => self.check_sum(&node.value),
            _ => {}
        }
    }

    /// `1 + 2j` is the only sum in a pattern.
    fn check_sum(&mut self, value: &ast::Expr) {
        let ast::Expr::BinOp(sum) = value else { return };
        let left = if let ast::Expr::UnaryOp(sign) = &*sum.left { &sign.operand } else { &sum.left };
        let is_imaginary = |part: &ast::Expr| matches!(part, ast::Expr::Constant(part) if part.value.is_complex());
        if is_imaginary(left) || !is_imaginary(&sum.right) {
            self.reject("a sum in a pattern is a real number and an imaginary one", to_range(value.range()));
        }
    }
}
