//! Whether what one run of a loop leaves behind is read by an iteration that another run of it does not belong to.

use super::Flow;
use crate::name::Name;
use crate::syntax::tree::Stmt;
use petgraph::graph::NodeIndex;
use std::collections::BTreeSet;

impl Flow {
    /// Whether the value that a run of the loop leaves in `name` may be read in another iteration of the loop `around` it, behind
    /// that loop, or in an iteration of one of the `later` loops. A run is taken to have an iteration.
    pub fn outlives(&self, of: &Stmt, around: Option<&Stmt>, later: &[&Stmt], name: Name) -> bool {
        let (Some(own), Some(number)) = (self.at(of), self.number(name)) else { return true };
        if self.live_at(own.body, name) {
            return true; // it does not always bind the name itself
        }
        let mut borders: BTreeSet<NodeIndex> = later.iter().filter_map(|&stmt| Some(self.at(stmt)?.body)).collect();
        borders.extend(around.and_then(|stmt| self.at(stmt)).into_iter().flat_map(|nodes| [nodes.head, nodes.exit]));
        let before = self.reached(&[own.exit], number, &borders);
        let crossed: Vec<NodeIndex> = before.intersection(&borders).copied().collect();
        let beyond = self.reached(&crossed, number, &BTreeSet::from([own.head]));
        beyond.into_iter().any(|node| self.graph[node].reads.contains(&number))
    }

    /// Where a value of the name may still be the present one, not beyond the `last` of them.
    fn reached(&self, from: &[NodeIndex], name: usize, last: &BTreeSet<NodeIndex>) -> BTreeSet<NodeIndex> {
        let mut found = BTreeSet::new();
        let mut todo = from.to_vec();
        while let Some(node) = todo.pop() {
            let step = &self.graph[node];
            let is_lost = step.binds.contains(&name) || step.unbinds.contains(&name);
            if found.insert(node) && !is_lost && !last.contains(&node) {
                todo.extend(self.graph.neighbors(node));
            }
        }
        found
    }
}
