//! What a forked child does with Python: call the encoder, and write down its answer.
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::encode::parts_of;
use crate::materialize::child::slot::Slot;
use crate::materialize::staged::Part;
use crate::materialize::wire::Refusal;

/// How long threads that wait for the GIL sleep at a stretch while a process is cloned.
const ASLEEP: f64 = 0.05;
/// How long it takes at least until they do.
const SETTLE: Duration = Duration::from_millis(2);

/// Threads that wait for the GIL wake up every few milliseconds and take the lock of its condition;
/// in a child that lock would stay taken. So they are let sleep longer around the clone.
pub struct Quiet<'py> {
    set: Bound<'py, PyAny>,
    interval: f64,
    others: bool,
}

impl<'py> Quiet<'py> {
    /// `others` says whether there are other threads that run Python.
    pub fn new(py: Python<'py>, others: bool) -> PyResult<Quiet<'py>> {
        let sys = py.import("sys")?;
        let interval = sys.call_method0("getswitchinterval")?.extract()?;
        Ok(Quiet { set: sys.getattr("setswitchinterval")?, interval, others })
    }

    /// Right before the clone.
    ///
    /// # Errors
    /// What a signal handler of the script raises. Signals that Python has noticed but not handled
    /// would be handled twice.
    pub fn begin(&self, py: Python<'_>) -> PyResult<()> {
        py.check_signals()?;
        if self.others && self.interval < ASLEEP {
            self.set.call1((ASLEEP,))?;
            // with the GIL: whoever waits for it notices, asks for it, and goes to sleep
            std::thread::sleep(SETTLE.max(Duration::from_secs_f64(2.0 * self.interval)));
        }
        Ok(())
    }

    /// After the clone, in both processes.
    pub fn end(&self) -> PyResult<()> {
        if self.others { self.set.call1((self.interval,)).map(|_| ()) } else { Ok(()) }
    }
}

/// In the child: answers a request to give up the GIL. A thread that waited for it at the clone has
/// made one, does not exist here, and whoever gives the GIL up at a request waits until another
/// thread has taken it. So one is started for that; nobody else will ever ask.
fn answer_requests(py: Python<'_>) {
    let other = std::thread::Builder::new().spawn(|| Python::attach(|_| ()));
    // where no thread can be had there may have been no request either; else the deadline is near
    py.detach(|| other.map(std::thread::JoinHandle::join).is_ok());
}

/// In the child: runs `encode` and writes to the slot what it returns. `begun` is called once Python
/// has shown that it runs here.
pub fn encode(py: Python<'_>, quiet: &Quiet<'_>, encode: &Bound<'_, PyAny>, slot: Slot<'_>, begun: &dyn Fn()) {
    let ended = quiet.end();
    answer_requests(py);
    // at the turns of a loop Python does what other threads ask for
    // (names of its own: without them it would bind the script's)
    let names = PyDict::new(py);
    let outcome = ended.and_then(|()| py.run(c"for _ in range(3): pass", Some(&names), None)).and_then(|()| {
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
    let (header, graph, leaves): (String, Bound<'_, PyBytes>, Bound<'_, PyAny>) = found.extract()?;
    let mut held = Vec::new();
    let mut parts = vec![Part::of(graph.as_bytes())];
    parts.extend(parts_of(&leaves, &mut held)?);
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
