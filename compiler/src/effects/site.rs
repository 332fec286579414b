//! Where an expression is evaluated, and one call there.

use crate::scopes::ScopeId;
use crate::source::Range;
use crate::syntax::tree::{Call, Expr, ExprKind};

/// Where an expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub scope: ScopeId,
    /// The expression whose value nobody uses: all that its statement is.
    pub dropped: Option<Range>,
    /// How many more lambdas may be followed: one may call another, or itself.
    pub lambdas: usize,
    /// Whether it is the head of a `with`: what is changed there is put back at its end.
    pub in_with: bool,
}

impl Context {
    /// Of what a statement evaluates.
    pub fn new(scope: ScopeId, dropped: Option<Range>) -> Self {
        Self { scope, dropped, lambdas: 4, in_with: false }
    }
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'c> {
    /// The scope that calls.
    pub scope: ScopeId,
    pub call: &'c Call,
    /// Where what it does is said to happen.
    pub range: Range,
    /// Whether anything uses what it returns.
    pub result_used: bool,
    /// See [`Context::lambdas`].
    pub lambdas: usize,
    /// See [`Context::in_with`].
    pub in_with: bool,
}

impl<'c> Site<'c> {
    pub fn new(context: Context, call: &'c Call, range: Range) -> Self {
        let Context { scope, dropped, lambdas, in_with } = context;
        Self { scope, call, range, result_used: dropped != Some(range), lambdas, in_with }
    }

    /// The values that are handed over.
    pub fn arguments(self) -> impl Iterator<Item = &'c Expr> {
        self.call.args.iter().chain(self.call.keywords.iter().map(|(_, value)| value))
    }

    /// The object whose attribute is called.
    pub fn receiver(self) -> Option<&'c Expr> {
        match &self.call.callee.kind {
            ExprKind::Attribute { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Another call that runs when this one does.
    pub fn with(self, call: &Call) -> Site<'_> {
        Site { call, ..self }
    }
}
