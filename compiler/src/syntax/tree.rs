//! The tree that analysis reads: Python's grammar, reduced to what decides about side effects, every node with its range.

use super::deep::{DEEP_STACK, on_deep_stack};
use crate::ids::StmtId;
use crate::name::Name;
use crate::source::Range;

/// A parsed file.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its statements.
    pub body: Vec<Stmt>,
    /// How deep it nests, statements and expressions together.
    pub depth: usize,
}

impl Drop for Module {
    fn drop(&mut self) {
        // Dropping recurses as deep as the tree.
        if self.depth > SHALLOW {
            let body = std::mem::take(&mut self.body);
            on_deep_stack(DEEP_STACK, || drop(body));
        }
    }
}

/// A tree no deeper than this fits on every stack.
const SHALLOW: usize = 500;

/// A statement. `id` numbers statements in source order, starting at 0 in a file, or in
/// a project where a file before it ended.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// Its number.
    pub id: StmtId,
    /// From its first byte (the decorator, if it has one) to its last.
    pub range: Range,
    /// What it is.
    pub kind: StmtKind,
}

/// What a statement is.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // the names are Python's own
pub enum StmtKind {
    Function(Box<Function>),
    Class(Box<Class>),
    Return(Option<Expr>),
    Delete(Vec<Expr>),
    Assign { targets: Vec<Expr>, value: Expr },
    AugAssign { target: Expr, value: Expr },
    AnnAssign { target: Expr, annotation: Expr, value: Option<Expr> },
    For(Box<For>),
    While { test: Expr, body: Vec<Stmt>, orelse: Vec<Stmt> },
    If { test: Expr, body: Vec<Stmt>, orelse: Vec<Stmt> },
    With { items: Vec<(Expr, Option<Expr>)>, body: Vec<Stmt>, is_async: bool },
    Match { subject: Expr, cases: Vec<Case> },
    Raise(Vec<Expr>),
    Try { body: Vec<Stmt>, handlers: Vec<Handler>, orelse: Vec<Stmt>, finalbody: Vec<Stmt> },
    Assert(Vec<Expr>),
    Import(Vec<Import>),
    Global(Vec<Name>),
    Nonlocal(Vec<Name>),
    Expr(Expr),
    TypeAlias { name: Name },
    Pass,
    Break,
    Continue,
}

/// `def` or `async def`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Function {
    pub name: Name,
    pub params: Vec<Param>,
    pub decorators: Vec<Expr>,
    pub returns: Option<Expr>,
    pub body: Vec<Stmt>,
    pub is_async: bool,
}

/// A parameter, in the order of the signature.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Param {
    pub name: Name,
    pub kind: ParamKind,
    pub annotation: Option<Expr>,
    pub default: Option<Expr>,
}

/// How a parameter is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ParamKind {
    Positional,
    VarArgs,
    KeywordOnly,
    KwArgs,
}

/// `class`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Class {
    pub name: Name,
    pub bases: Vec<Expr>,
    pub decorators: Vec<Expr>,
    pub body: Vec<Stmt>,
}

/// `for` or `async for`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct For {
    pub target: Expr,
    pub iter: Expr,
    pub body: Vec<Stmt>,
    pub orelse: Vec<Stmt>,
    pub is_async: bool,
}

/// A `case` of a `match`: the names its pattern binds and the expressions it evaluates.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Case {
    pub binds: Vec<Name>,
    pub values: Vec<Expr>,
    pub guard: Option<Expr>,
    pub body: Vec<Stmt>,
}

/// An `except` clause.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Handler {
    pub range: Range,
    pub kind: Option<Expr>,
    pub name: Option<Name>,
    pub body: Vec<Stmt>,
}

/// One imported name: `local` is bound to the thing called `dotted`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Import {
    pub local: Name,
    pub dotted: String,
    /// The module that Python loads for it, leading dots and all.
    pub module: String,
    pub is_future: bool,
}

/// An expression.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its bytes, without grouping parentheses.
    pub range: Range,
    /// What it is.
    pub kind: ExprKind,
}

/// What an expression is.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum ExprKind {
    Name(Name),
    Attribute {
        value: Box<Expr>,
        attr: Name,
    },
    Subscript {
        value: Box<Expr>,
        index: Box<Expr>,
    },
    Call(Box<Call>),
    /// `+`, `not`, `and`, `<`, `a if b else c`, f-strings: evaluates its parts, in order, to a new value.
    Operation(Vec<Expr>),
    /// `a or b`, `x if c else y`: yields one of its parts itself.
    Choice(Vec<Expr>),
    /// A tuple, list, set or dict display. For dicts: keys and values in turn.
    Display {
        items: Vec<Expr>,
        is_tuple_or_list: bool,
    },
    Comprehension {
        elements: Vec<Expr>,
        clauses: Vec<Clause>,
        is_generator: bool,
    },
    Lambda {
        params: Vec<Param>,
        body: Box<Expr>,
    },
    Named {
        target: Box<Expr>,
        value: Box<Expr>,
    },
    Starred(Box<Expr>),
    Await(Box<Expr>),
    Yield(Option<Box<Expr>>),
    Constant(Literal),
}

/// The constants whose value matters to analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Literal {
    True,
    False,
    None,
    Number,
    Str(String),
    Other,
}

/// A call.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Call {
    pub callee: Expr,
    pub args: Vec<Expr>,
    pub keywords: Vec<(Option<Name>, Expr)>,
}

/// `for target in iter if …` of a comprehension.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Clause {
    pub target: Expr,
    pub iter: Expr,
    pub conditions: Vec<Expr>,
    pub is_async: bool,
}
