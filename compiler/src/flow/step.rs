//! The steps that a control-flow graph is made of.

use petgraph::graph::NodeIndex;

/// One step of control flow: what it reads, binds and unbinds.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Names read, before anything is bound.
    pub reads: Vec<usize>,
    /// Names bound.
    pub binds: Vec<usize>,
    /// Names unbound (`del`, the end of an `except … as name`).
    pub unbinds: Vec<usize>,
    /// What it stands for, in `florc plan --dot`.
    pub label: &'static str,
}

/// Of a loop.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoopNodes {
    /// Before the first evaluation of the condition or of the iterator's next element.
    pub before: NodeIndex,
    /// Where each iteration asks whether there is one: evaluates the condition, takes the next element.
    pub head: NodeIndex,
    /// The start of an iteration, before the target is bound.
    pub body: NodeIndex,
    /// Where control arrives when the loop is over, by exhaustion or `break`.
    pub exit: NodeIndex,
}
