//! `florc._native.Recorder` and `create_store`.
use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::forking;
use super::key::key_of;
use crate::encode::{parts_and_remote_of, parts_of};
use crate::guard::exceptions::raise;
use crate::materialize::child::slot::Slot;
use crate::materialize::commit::CHECKPOINT;
use crate::materialize::memory;
use crate::materialize::staged::{Part, Remote};
use crate::materialize::wire::Done;
use crate::materialize::{Engine, Options, Receipt, Recorder, Totals};
use crate::store::layout::{RunId, Store};

const SMALLEST_STAGING: usize = 64 << 10;

/// Opens the store at `path`, creating what is missing of it.
#[pyfunction]
pub fn create_store(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    py.detach(|| Store::create(&path)).map(|_| ()).map_err(raise)
}

/// Records one rank of one run: checkpoints and log records. After construction nothing here raises
/// for what the disk or the writer does.
#[pyclass(name = "Recorder", module = "florc._native", frozen)]
pub struct PyRecorder(Recorder);

#[pymethods]
impl PyRecorder {
    /// `max_staging` is in bytes, by default a quarter of the free memory, and for one checkpoint that is alone up to three
    /// quarters. `engine` is "writer" (a
    /// process of its own), "thread" or "inline"; where it cannot be had, the next one serves.
    #[new]
    /// `key`: 32 bytes that the journal is sealed with. `share_packs`: small checkpoints may share packs; then dropping
    /// one of them frees nothing.
    #[allow(clippy::too_many_arguments)] // keywords, in Python
    #[pyo3(signature = (store, run_id, rank=0, *, max_staging=None, engine="writer", key=None, share_packs=true))]
    fn new(
        py: Python<'_>,
        store: PathBuf,
        run_id: &str,
        rank: u32,
        max_staging: Option<usize>,
        engine: &str,
        key: Option<&[u8]>,
        share_packs: bool,
    ) -> PyResult<PyRecorder> {
        let key = key_of(key)?;
        let engine = Engine::named(engine)
            .ok_or_else(|| PyValueError::new_err("engine must be 'writer', 'thread' or 'inline'"))?;
        let most = if max_staging.is_none() { memory::most_of_free() } else { 0 };
        let max_staging = max_staging.unwrap_or_else(memory::quarter_of_free).max(SMALLEST_STAGING);
        let started = py.detach(|| {
            let (store, run) = (Store::create(&store)?, RunId::new(run_id)?);
            Recorder::start(&store, &run, rank, Options { max_staging, most, engine, key, shares: share_packs })
        });
        started.map(PyRecorder).map_err(raise)
    }

    /// Copies a checkpoint to staging memory: a JSON object, the object graph, and leaves: `Leaves`, or a list of
    /// `(address, bytes, …)` of host memory or bytes-like objects. Returns a dict with `seq`, `bytes` and
    /// `stall_s`, or None when there is no room now or the recorder is dead or closed. Never waits
    /// for the disk (engine "inline" does).
    fn submit<'py>(
        &self,
        py: Python<'py>,
        header: &str,
        graph: &Bound<'py, PyBytes>,
        leaves: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut held = Vec::new();
        let parts = parts_of_checkpoint(header, graph, parts_of(leaves, &mut held)?)?;
        // SAFETY: bytes objects do not change and live through the call, the caller vouches for
        // addresses
        let receipt = py.detach(|| unsafe { self.0.submit(header, &parts) });
        receipt.map(|receipt| dict_of(py, receipt)).transpose()
    }

    /// As `submit`, of a checkpoint that is larger than the memory it may take: it is handed over in pieces, and the disk is
    /// waited for. Nothing that needs Python runs meanwhile, but `fetch`: the state must be that of one instant.
    /// `fetch(leaf, from, nbytes, address)` copies `nbytes` bytes of a `DeviceLeaf` to the address; without it there must be none.
    /// Raises what `fetch` raises: then nothing was taken.
    #[pyo3(signature = (header, graph, leaves, fetch=None))]
    fn submit_in_pieces<'py>(
        &self,
        py: Python<'py>,
        header: &str,
        graph: &Bound<'py, PyBytes>,
        leaves: &Bound<'py, PyAny>,
        fetch: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut held = Vec::new();
        let of_leaves = if fetch.is_some() { parts_and_remote_of } else { parts_of };
        let parts = parts_of_checkpoint(header, graph, of_leaves(leaves, &mut held)?)?;
        let mut raised = None;
        let brings = |remote: Remote, address: usize| {
            // part 0 is the graph
            let (leaf, from) = (remote.part - 1, remote.from);
            raised = fetch.and_then(|fetch| fetch.call1((leaf, from, remote.len, address)).err());
            raised.is_none()
        };
        // SAFETY: as for `submit`; Python's lock is held, so that no Python code changes a part
        let receipt = unsafe { self.0.submit_in_pieces(header, &parts, brings) };
        raised.map_or(Ok(()), Err)?;
        receipt.map(|receipt| dict_of(py, receipt)).transpose()
    }

    /// Has a child of this process encode a checkpoint of at most `nbytes`, while the script goes on.
    /// There `encode()` returns `(header, graph, leaves)` as for `submit`, or why not: `("now" |
    /// "good" | "elsewhere", reason)`. The child is ended after `deadline_s`. `others` says whether
    /// there are other threads that run Python: they cost some milliseconds. Returns a dict with
    /// `seq` and `stall_s`, or None when another child lives, there is no room now, or the engine
    /// is not "writer". Raises what a signal handler of the script raises.
    #[pyo3(signature = (nbytes, encode, deadline_s=60.0, others=true))]
    fn fork<'py>(
        &self,
        py: Python<'py>,
        nbytes: usize,
        encode: &Bound<'py, PyAny>,
        deadline_s: f64,
        others: bool,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let deadline = Duration::try_from_secs_f64(deadline_s)
            .map_err(|_| PyValueError::new_err("deadline_s must be a number of seconds"))?;
        let quiet = forking::Quiet::new(py, others)?;
        let in_child = |slot: Slot<'_>, begun: &dyn Fn()| forking::encode(py, &quiet, encode, slot, begun);
        let receipt = self.0.fork(nbytes, deadline, || quiet.begin(py), in_child);
        quiet.end()?;
        let receipt = receipt?;
        receipt.map(|receipt| forking::dict_of(py, receipt.seq, receipt.stall_s)).transpose()
    }

    /// Says that checkpoints of so many bytes are to be expected: the background then finds staging
    /// memory ahead, which is most of the cost of a first `submit`.
    fn prepare(&self, py: Python<'_>, nbytes: usize) {
        py.detach(|| self.0.prepare(nbytes));
    }

    /// Adds a record to the journal. The kind has 1 to 255 bytes; "checkpoint" is taken.
    fn log(&self, py: Python<'_>, kind: &str, payload: &str) -> PyResult<()> {
        if kind.is_empty() || kind.len() > 255 || kind == CHECKPOINT {
            return Err(PyValueError::new_err("kind must have 1 to 255 bytes and not be 'checkpoint'"));
        }
        py.detach(|| self.0.log(kind, payload));
        Ok(())
    }

    /// The checkpoints finished since the last call.
    fn poll(&self, py: Python<'_>) -> Vec<PyDone> {
        py.detach(|| self.0.poll()).into_iter().map(PyDone::from).collect()
    }

    /// Has checkpoints dropped: the journal says so first, then packs that nothing else needs are removed. `seqs` are the
    /// numbers of checkpoints that `poll` has returned without an error.
    fn drop_checkpoints(&self, py: Python<'_>, seqs: Vec<u64>) {
        py.detach(|| self.0.drop_checkpoints(&format!("{{\"seqs\":{seqs:?}}}")));
    }

    /// What each finished `drop_checkpoints` freed since the last call, in bytes.
    fn freed(&self, py: Python<'_>) -> Vec<u64> {
        py.detach(|| self.0.freed())
    }

    /// The largest checkpoint that could be staged now, in bytes.
    fn room(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.room())
    }

    /// The largest checkpoint that could be staged as a whole if nothing else were on its way, in bytes.
    fn whole(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.whole())
    }

    /// The engine at work: "writer", "thread" or "inline".
    #[getter]
    fn engine(&self) -> &'static str {
        self.0.engine().name()
    }

    /// Why it is not the engine that was asked for, or None.
    #[getter]
    fn fallback(&self) -> Option<&str> {
        self.0.fallback()
    }

    /// Why nothing is recorded any more, or None.
    #[getter]
    fn dead(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.0.dead())
    }

    /// The writer's process id, or None when it is no process.
    #[getter]
    fn pid(&self) -> Option<i32> {
        self.0.pid()
    }

    /// Waits until everything staged is durable, at most `timeout_s` seconds, and ends the engine.
    /// Returns a dict with `checkpoints`, `bytes_staged`, `bytes_written`, `cpu_s`, `logs`,
    /// `logs_lost`, `errors` (list of text) and `drained` (whether nothing is left undone). Later
    /// calls return the same.
    #[pyo3(signature = (timeout_s=600.0))]
    fn close<'py>(&self, py: Python<'py>, timeout_s: f64) -> PyResult<Bound<'py, PyDict>> {
        let timeout = Duration::try_from_secs_f64(timeout_s)
            .map_err(|_| PyValueError::new_err("timeout_s must be a number of seconds"))?;
        let totals = self.close_unless_interrupted(py, timeout)?;
        let dict = PyDict::new(py);
        dict.set_item("checkpoints", totals.checkpoints)?;
        dict.set_item("bytes_staged", totals.bytes_staged)?;
        dict.set_item("bytes_written", totals.bytes_written)?;
        dict.set_item("cpu_s", totals.cpu_s)?;
        dict.set_item("logs", totals.logs)?;
        dict.set_item("logs_lost", totals.logs_lost)?;
        dict.set_item("errors", totals.errors)?;
        dict.set_item("drained", totals.drained)?;
        Ok(dict)
    }

    /// For a process forked from the recording one: closes the pipes and does nothing ever after.
    /// Takes no lock.
    fn abandon(&self) {
        self.0.abandon();
    }
}

/// The object graph and the leaves.
fn parts_of_checkpoint(header: &str, graph: &Bound<'_, PyBytes>, leaves: Vec<Part>) -> PyResult<Vec<Part>> {
    if !(header.starts_with('{') && header.ends_with('}')) {
        return Err(PyValueError::new_err("the header must be a JSON object"));
    }
    Ok(std::iter::once(Part::of(graph.as_bytes())).chain(leaves).collect())
}

fn dict_of(py: Python<'_>, receipt: Receipt) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("seq", receipt.seq)?;
    dict.set_item("bytes", receipt.bytes)?;
    dict.set_item("stall_s", receipt.stall_s)?;
    Ok(dict)
}

impl PyRecorder {
    /// Ctrl-C must be able to end a long wait; whoever catches it may close again.
    fn close_unless_interrupted(&self, py: Python<'_>, timeout: Duration) -> PyResult<Totals> {
        let mut raised = None;
        let totals = py.detach(|| {
            self.0.close(timeout, || {
                raised = Python::attach(|py| py.check_signals()).err();
                raised.is_none()
            })
        });
        match (totals, raised) {
            (_, Some(error)) => Err(error),
            (totals, None) => Ok(totals.unwrap_or_default()),
        }
    }
}

/// A checkpoint was dealt with.
#[pyclass(name = "Done", module = "florc._native", frozen, get_all)]
pub struct PyDone {
    seq: u64,
    cpu_s: f64,
    bytes_written: u64,
    error: Option<String>,
    errno: Option<i32>,
    refusal: Option<&'static str>,
    encode_s: f64,
    faults: u64,
}

impl From<Done> for PyDone {
    fn from(done: Done) -> Self {
        let Done { seq, cpu_s, bytes_written, error, errno, refusal, encode_s, faults } = done;
        Self { seq, cpu_s, bytes_written, error, errno, refusal: refusal.name(), encode_s, faults }
    }
}
