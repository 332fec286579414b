//! What the grammar lets pass and Python does not.

use super::lowering::Lowering;
use crate::source::Range;
use crate::syntax::lexer::token::error;
use crate::syntax::range::to_range;
use rustpython_parser::ast::{self, Ranged};

/// What a target belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    /// `=`, `for`, `with … as`: names, attributes, items, and lists of them.
    Assign,
    /// `+=`: no lists.
    Augmented,
    /// `x: int`: no lists.
    Annotated,
    /// `del`: no stars.
    Delete,
}

impl Lowering<'_> {
    /// Reports a target that cannot be bound.
    pub(super) fn check_target(&mut self, target: &ast::Expr, binding: Binding) {
        let single = matches!(binding, Binding::Augmented | Binding::Annotated);
        let inner = match target {
            ast::Expr::Name(_) | ast::Expr::Attribute(_) | ast::Expr::Subscript(_) => return,
            ast::Expr::Tuple(node) if !single && self.formatted(to_range(node.range)).is_none() => &node.elts,
            ast::Expr::List(node) if !single => &node.elts,
            ast::Expr::Starred(node) if binding == Binding::Assign => std::slice::from_ref(&*node.value),
            _ => {
                let (what, verb) = match binding {
                    Binding::Delete => (kind(target), "be deleted"),
                    Binding::Augmented => (kind(target), "be the target of an augmented assignment"),
                    Binding::Annotated => (kind(target), "be annotated"),
                    Binding::Assign => (kind(target), "be assigned to"),
                };
                return self.reject(format!("{what} cannot {verb}"), to_range(target.range()));
            }
        };
        for part in inner {
            self.check_target(part, binding);
        }
    }

    /// A generator expression without parentheses is allowed as the only argument of a call.
    pub(super) fn check_arguments(&mut self, arguments: &[ast::Expr], keywords: usize, end: usize, is_class: bool) {
        for argument in arguments.iter().filter(|argument| argument.is_generator_exp_expr()) {
            let range = to_range(argument.range());
            let text = self.text.get(range.start..range.end).unwrap_or("");
            let is_bare = !(text.starts_with('(') && text.ends_with(')'));
            let is_alone = arguments.len() + keywords == 1 && !comma_follows(&self.text[range.end..end]);
            if is_bare && (is_class || !is_alone) {
                self.reject("a generator expression must be parenthesized here", range);
            }
        }
    }

    /// `[*a for a in b]`.
    pub(super) fn check_element(&mut self, element: &ast::Expr) {
        if element.is_starred_expr() {
            self.reject("a comprehension cannot unpack an iterable", to_range(element.range()));
        }
    }

    /// Keeps the first error.
    pub(super) fn reject(&mut self, message: impl Into<String>, range: Range) {
        if self.error.is_none() {
            self.error = Some(error(message, range));
        }
    }
}

/// Whether the next token but closing brackets is a comma.
fn comma_follows(text: &str) -> bool {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ')' | '\\'));
        match rest.strip_prefix('#') {
            Some(comment) => rest = comment.find(['\n', '\r']).map_or("", |end| &comment[end..]),
            None => return rest.starts_with(','),
        }
    }
}

fn kind(node: &ast::Expr) -> &'static str {
    match node {
        ast::Expr::Call(_) => "a call",
        ast::Expr::Constant(_) => "a literal",
        ast::Expr::Tuple(_) => "a tuple",
        ast::Expr::List(_) => "a list",
        ast::Expr::Starred(_) => "a starred expression",
        ast::Expr::Lambda(_) => "a lambda",
        ast::Expr::IfExp(_) => "a conditional expression",
        ast::Expr::Compare(_) => "a comparison",
        ast::Expr::Dict(_) | ast::Expr::Set(_) => "a display",
        ast::Expr::GeneratorExp(_) | ast::Expr::ListComp(_) | ast::Expr::SetComp(_) | ast::Expr::DictComp(_) => {
            "a comprehension"
        }
        _ => "an expression",
    }
}
