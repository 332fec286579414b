//! `florc._native.gc`, `usage`: what keeps a store in order.
use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;

use crate::guard::exceptions::raise;
use crate::store::gc;
use crate::store::layout::Store;

/// Per run what it refers to and what only it does; what `gc` would free. In bytes.
type Usage = (BTreeMap<String, (u64, u64)>, u64);

/// Removes what no run refers to. Returns how many files, and their bytes. Raises StoreError while a recording goes on.
#[pyfunction(name = "gc")]
pub fn free(py: Python<'_>, store: PathBuf) -> PyResult<(u64, u64)> {
    let freed = py.detach(|| gc::gc(&Store::open(&store)?)).map_err(raise)?;
    Ok((freed.files, freed.bytes))
}

/// Bytes in packs: per run those that it refers to, and of them those that no other run does; and what `gc` would free.
#[pyfunction]
pub fn usage(py: Python<'_>, store: PathBuf) -> PyResult<Usage> {
    let usage = py.detach(|| gc::usage(&Store::open(&store)?)).map_err(raise)?;
    Ok((usage.runs, usage.free))
}
