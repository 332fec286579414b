//! Two classic data-flow problems over the graph: liveness (backward, may) and sure binding (forward, must).

use super::Step;
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{DfsPostOrder, Walker};
use std::collections::{BTreeSet, VecDeque};

/// For each node, the names that may be read from there on before they are bound again.
pub(super) fn live(graph: &DiGraph<Step, ()>) -> Vec<BTreeSet<usize>> {
    let mut live = vec![BTreeSet::new(); graph.node_count()];
    let mut queue: VecDeque<NodeIndex> = order(graph).into();
    let mut queued = vec![true; graph.node_count()];
    while let Some(node) = queue.pop_front() {
        queued[node.index()] = false;
        let mut now = BTreeSet::new();
        for next in graph.neighbors(node) {
            now.extend(live[next.index()].iter().copied());
        }
        let step = &graph[node];
        for name in step.binds.iter().chain(&step.unbinds) {
            now.remove(name);
        }
        now.extend(step.reads.iter().copied());
        if now != live[node.index()] {
            live[node.index()] = now;
            for before in graph.neighbors_directed(node, Direction::Incoming) {
                if !std::mem::replace(&mut queued[before.index()], true) {
                    queue.push_back(before);
                }
            }
        }
    }
    live
}

/// For each node, the names bound on every path from the entry to it; `None` where no path leads.
pub(super) fn surely_bound(graph: &DiGraph<Step, ()>, initially: &BTreeSet<usize>) -> Vec<Option<BTreeSet<usize>>> {
    let mut before: Vec<Option<BTreeSet<usize>>> = vec![None; graph.node_count()];
    let Some(entry) = graph.node_indices().next() else {
        return before;
    };
    before[entry.index()] = Some(initially.clone());
    let mut queue = VecDeque::from([entry]);
    while let Some(node) = queue.pop_front() {
        let Some(mut after) = before[node.index()].clone() else { continue };
        let step = &graph[node];
        for name in &step.unbinds {
            after.remove(name);
        }
        after.extend(step.binds.iter().copied());
        for next in graph.neighbors(node) {
            let slot = &mut before[next.index()];
            let merged = match slot {
                Some(known) => known.intersection(&after).copied().collect(),
                None => after.clone(),
            };
            if slot.as_ref() != Some(&merged) {
                *slot = Some(merged);
                queue.push_back(next);
            }
        }
    }
    before
}

/// Every node, later code first.
fn order(graph: &DiGraph<Step, ()>) -> Vec<NodeIndex> {
    let Some(entry) = graph.node_indices().next() else {
        return Vec::new();
    };
    let mut nodes: Vec<NodeIndex> = DfsPostOrder::new(graph, entry).iter(graph).collect();
    let reached: BTreeSet<NodeIndex> = nodes.iter().copied().collect();
    nodes.extend(graph.node_indices().filter(|node| !reached.contains(node)));
    nodes
}
