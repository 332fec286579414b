//! How many values lie in each bin of a histogram, counted as `numpy.histogram` counts.
use pyo3::prelude::*;

/// A value's first bits, its sign, its exponent and four bits more, tell in which of 65,536 cells it lies.
const SHIFT: u32 = 48;
const CELLS: usize = 1 << (u64::BITS - SHIFT);
const SIGN: usize = CELLS / 2;
/// Values that follow each other often lie in one bin: to add to one number waits for the addition before.
const LANES: usize = 4;

/// Edges in ascending order, and where among them each cell begins.
#[pyclass(frozen, module = "florc._native")]
#[derive(Debug)]
pub struct Bins {
    edges: Vec<f64>,
    /// By cell: how many edges its least value has reached.
    reached: Vec<u16>,
}

#[pymethods]
impl Bins {
    /// `edges`: in ascending order, at least two, at most 60,000, no NaN. Raises ValueError for others.
    #[new]
    fn new(edges: Vec<f64>) -> PyResult<Self> {
        Self::of(edges).ok_or_else(|| pyo3::exceptions::PyValueError::new_err("edges of bins ascend"))
    }

    /// The counts of `len` numbers of 64 bits at an address, as bytes of as many whole numbers of 64 bits as there are bins; None where
    /// one of them is no number. The memory must stay as it is meanwhile.
    fn counts(&self, py: Python<'_>, address: usize, len: usize) -> Option<Vec<u8>> {
        if len == 0 {
            return Some(vec![0; (self.edges.len() - 1) * size_of::<u64>()]);
        }
        // SAFETY: the caller holds an array of so many numbers there
        let values = unsafe { std::slice::from_raw_parts(address as *const f64, len) };
        let counts = py.detach(|| self.count(values))?;
        Some(counts.iter().flat_map(|count| count.to_ne_bytes()).collect())
    }
}

impl Bins {
    fn of(edges: Vec<f64>) -> Option<Self> {
        let ascends = edges.len() >= 2 && edges.windows(2).all(|pair| matches!(pair, [one, two] if one < two));
        if !ascends || edges.len() > 60_000 {
            return None;
        }
        let least = |cell: usize| {
            // of negative values the one that is farthest from 0
            let low = if cell < SIGN { 0 } else { u64::MAX >> (u64::BITS - SHIFT) };
            f64::from_bits((cell as u64) << SHIFT | low)
        };
        let reached = |cell: usize| {
            let least = least(cell);
            // a cell of infinity and of what is no number begins where the infinite does
            let least =
                if least.is_nan() { if cell < SIGN { f64::INFINITY } else { f64::NEG_INFINITY } } else { least };
            u16::try_from(edges.partition_point(|edge| *edge <= least)).unwrap_or(u16::MAX)
        };
        let reached = (0..CELLS).map(reached).collect();
        Some(Self { edges, reached })
    }

    /// The number of edges that a value has reached.
    fn place(&self, value: f64) -> usize {
        let value = value + 0.0; // -0.0 becomes 0.0
        let cell = (value.to_bits() >> SHIFT) as usize;
        let mut at = usize::from(self.reached.get(cell).copied().unwrap_or(0));
        while self.edges.get(at).is_some_and(|edge| value >= *edge) {
            at += 1;
        }
        at
    }

    fn count(&self, values: &[f64]) -> Option<Vec<u64>> {
        let (bins, Some(last)) = (self.edges.len() - 1, self.edges.last()) else { return None };
        let width = self.edges.len() + 1;
        let mut found = vec![0u64; width * LANES];
        let (mut at_last, mut is_nan) = (0, false);
        let mut add = |lane: usize, value: f64| {
            if let Some(count) = found.get_mut(self.place(value) * LANES + lane) {
                *count += 1;
            }
            at_last += u64::from(value == *last);
            is_nan |= value.is_nan();
        };
        let chunks = values.chunks_exact(LANES);
        chunks.remainder().iter().for_each(|value| add(0, *value));
        for chunk in chunks {
            chunk.iter().enumerate().for_each(|(lane, value)| add(lane, *value));
        }
        if is_nan {
            return None;
        }
        let mut counts: Vec<u64> =
            found.chunks_exact(LANES).skip(1).take(bins).map(|lanes| lanes.iter().sum()).collect();
        // the last bin holds its last edge, too
        *counts.last_mut()? += at_last;
        Some(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_counted_where_it_lies() {
        let edges = vec![-1e20, -2.0, -1e-12, 0.0, 1e-12, 1.0, 1.5, 1e20];
        let bins = Bins::of(edges.clone()).unwrap();
        let mut values = vec![-0.0, 0.0, 5e-324, -5e-324, f64::INFINITY, f64::NEG_INFINITY, 1.2, 1.25, 1e21, -1e21];
        for edge in &edges {
            values.extend([*edge, edge.next_up(), edge.next_down()]);
        }
        let wanted: Vec<u64> = (0..edges.len() - 1)
            .map(|bin| {
                let is_last = bin + 2 == edges.len();
                let is_in = |value: &&f64| {
                    edges[bin] <= **value && (**value < edges[bin + 1] || is_last && **value == edges[bin + 1])
                };
                values.iter().filter(is_in).count() as u64
            })
            .collect();
        assert_eq!(bins.count(&values).unwrap(), wanted);
        assert_eq!(bins.count(&[]).unwrap(), vec![0; 7]);
        assert!(bins.count(&[1.0, f64::NAN]).is_none() && Bins::of(vec![1.0, 0.0]).is_none());
    }
}
