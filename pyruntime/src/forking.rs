//! What a forked child does with Python: call the encoder, and write down its answer.
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::materialize::forked::Slot;
use crate::materialize::staged::Part;
use crate::materialize::wire::Refusal;
use crate::recorder::part_of;

/// Right before the clone, in the parent. The child has no thread that could give the GIL to
/// another one, so it must not be asked to: giving the GIL up and taking it back answers such a
/// request. Signals that Python has noticed but not handled would be handled twice.
///
/// # Errors
/// What a signal handler of the script raises.
pub fn settle_requests(py: Python<'_>) -> PyResult<()> {
    py.check_signals()?;
    py.detach(|| ());
    Ok(())
}

/// In the child: runs `encode` and writes to the slot what it returns. `begun` is called once Python
/// has shown that it runs here.
pub fn encode(py: Python<'_>, encode: &Bound<'_, PyAny>, slot: Slot<'_>, begun: &dyn Fn()) {
    // a loop, because at its turns Python answers requests for the GIL
    let outcome = py.run(c"for _ in range(3): pass", None, None).and_then(|()| {
        begun();
        answer(&encode.call0()?, slot)
    });
    if let Err(error) = outcome {
        slot.refuse(Refusal::ForNow, &error.to_string());
    }
}

/// `(header, graph, leaves)` is a checkpoint, `(refusal, reason)` is none.
fn answer(found: &Bound<'_, PyAny>, slot: Slot<'_>) -> PyResult<()> {
    if let Ok((refusal, why)) = found.extract::<(String, String)>() {
        slot.refuse(Refusal::named(&refusal).unwrap_or(Refusal::ForNow), &why);
        return Ok(());
    }
    let (header, graph, leaves): (String, Bound<'_, PyBytes>, Bound<'_, PyList>) = found.extract()?;
    let mut held = Vec::new();
    let mut parts = vec![Part::of(graph.as_bytes())];
    for leaf in leaves.iter() {
        parts.push(part_of(&leaf, &mut held)?);
    }
    // SAFETY: nothing else runs in this process; the encoder vouches for addresses
    unsafe { slot.put(&header, &parts) };
    Ok(())
}

/// How a fork went, for Python.
pub fn dict_of(py: Python<'_>, seq: u64, stall_s: f64) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seq", seq)?;
    dict.set_item("stall_s", stall_s)?;
    Ok(dict)
}
