//! Tensors and arrays that lie over the same memory.
use super::json::{put_list, put_number};

/// Memory that a node's elements reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    /// Its number among the devices that were met.
    pub device: usize,
    pub address: usize,
    pub len: usize,
    pub node: usize,
}

/// `[[[node, offset in bytes from the lowest one], …], …]`: nodes whose memory overlaps, directly or through another.
pub(super) fn put_groups(mut spans: Vec<Span>, out: &mut String) {
    spans.sort_unstable();
    let mut groups = Vec::new();
    let mut run = 0;
    let mut end = 0;
    for at in 0..=spans.len() {
        let goes_on =
            at > run && spans.get(at).is_some_and(|span| span.device == spans[run].device && span.address < end);
        if !goes_on {
            if at > run + 1 {
                groups.push(group(&spans[run..at]));
            }
            run = at;
            end = 0;
        }
        end = end.max(spans.get(at).map_or(0, |span| span.address + span.len));
    }
    groups.sort_unstable();
    put_list(groups, out, |group, out| {
        put_list(group, out, |(node, offset), out| {
            out.push('[');
            put_number(node, out);
            out.push(',');
            put_number(offset, out);
            out.push(']');
        });
    });
}

fn group(run: &[Span]) -> Vec<(usize, usize)> {
    let mut members: Vec<_> = run.iter().map(|span| (span.node, span.address - run[0].address)).collect();
    members.sort_unstable();
    members
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(spans: &[(usize, usize, usize, usize)]) -> String {
        let spans = spans.iter().map(|&(device, address, len, node)| Span { device, address, len, node }).collect();
        let mut out = String::new();
        put_groups(spans, &mut out);
        out
    }

    #[test]
    fn what_overlaps_is_one_group() {
        assert_eq!(groups(&[]), "[]");
        assert_eq!(groups(&[(0, 100, 8, 1), (0, 108, 8, 2), (1, 100, 8, 3)]), "[]");
        assert_eq!(groups(&[(0, 100, 8, 5), (0, 104, 8, 2), (0, 110, 8, 4), (0, 118, 4, 3)]), "[[[2,4],[4,10],[5,0]]]");
        assert_eq!(
            groups(&[(0, 100, 9, 5), (0, 100, 4, 2), (0, 200, 8, 0), (0, 200, 8, 1)]),
            "[[[0,0],[1,0]],[[2,0],[5,0]]]"
        );
    }
}
