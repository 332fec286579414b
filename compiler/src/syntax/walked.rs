//! What is directly inside a node, one after another: nothing is allocated for the nodes that a file has thousands of.

use super::tree::{Case, Expr, Handler, Stmt};
use crate::name::Name;
use std::slice::Iter;

/// Expressions, in the order of the fields.
#[derive(Clone, Debug, Default)]
pub struct Exprs<'t> {
    pub(super) first: [Option<&'t Expr>; 3],
    pub(super) slice: Iter<'t, Expr>,
    pub(super) more: Iter<'t, Expr>,
    pub(super) keywords: Iter<'t, (Option<Name>, Expr)>,
    /// Those of nodes that are rare.
    pub(super) listed: std::vec::IntoIter<&'t Expr>,
}

impl<'t> Exprs<'t> {
    pub(super) fn single(expr: Option<&'t Expr>) -> Self {
        Self::three([expr, None, None])
    }

    pub(super) fn three(first: [Option<&'t Expr>; 3]) -> Self {
        Self { first, ..Self::default() }
    }

    pub(super) fn slice(exprs: &'t [Expr]) -> Self {
        Self { slice: exprs.iter(), ..Self::default() }
    }

    pub(super) fn listed(exprs: Vec<&'t Expr>) -> Self {
        Self { listed: exprs.into_iter(), ..Self::default() }
    }
}

impl<'t> Iterator for Exprs<'t> {
    type Item = &'t Expr;

    fn next(&mut self) -> Option<&'t Expr> {
        let first = self.first.iter_mut().find_map(Option::take);
        first
            .or_else(|| self.slice.next())
            .or_else(|| self.more.next())
            .or_else(|| self.keywords.next().map(|(_, value)| value))
            .or_else(|| self.listed.next())
    }
}

/// Suites of statements, in the order of the fields.
#[derive(Clone, Debug, Default)]
pub struct Suites<'t> {
    pub(super) first: Option<&'t [Stmt]>,
    pub(super) cases: Iter<'t, Case>,
    pub(super) handlers: Iter<'t, Handler>,
    pub(super) last: [Option<&'t [Stmt]>; 2],
}

impl<'t> Suites<'t> {
    pub(super) fn one(body: &'t [Stmt]) -> Self {
        Self { first: Some(body), ..Self::default() }
    }

    pub(super) fn two(body: &'t [Stmt], orelse: &'t [Stmt]) -> Self {
        Self { last: [Some(orelse), None], ..Self::one(body) }
    }
}

impl<'t> Iterator for Suites<'t> {
    type Item = &'t [Stmt];

    fn next(&mut self) -> Option<&'t [Stmt]> {
        self.first
            .take()
            .or_else(|| self.cases.next().map(|case| case.body.as_slice()))
            .or_else(|| self.handlers.next().map(|handler| handler.body.as_slice()))
            .or_else(|| self.last.iter_mut().find_map(Option::take))
    }
}
