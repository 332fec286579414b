//! Sees what is written to `sys.stdout` without standing in its way: native, because some scripts print 100,000 lines.
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use serde::Serialize;

use crate::guard::panics::guard;
use crate::locks::lock;
use crate::nest::follow::loop_path;
use crate::nest::owner::is_followed;

/// How far up the caller of a library's `print` is looked for.
const MOST_FRAMES: usize = 40;
/// Lines are handed on together: at most so many,
const MOST_LINES: usize = 256;
/// of so many bytes,
const MOST_BYTES: usize = 1 << 16;
/// and no longer after the first than this, where one is printed: a run that is killed loses those that wait.
const LONGEST: Duration = Duration::from_millis(250);

/// A line: where in the loop nest it ended, what it says, the statement that ended it, and what it was put together from
/// where that was written at different places of the nest.
#[derive(Serialize)]
struct Line(
    Arc<str>,
    String,
    Option<Arc<str>>,
    i64,
    #[serde(skip_serializing_if = "Vec::is_empty")] Vec<(Arc<str>, String)>,
);

#[derive(Default)]
struct Seen {
    parts: Vec<(Arc<str>, String)>,
    lines: Vec<Line>,
    bytes: usize,
    since: Option<Instant>,
    /// The last path: most lines are written where the one before was.
    path: Option<Arc<str>>,
    /// The code object that wrote last, and its file if that is the project's.
    writer: Option<(Py<PyAny>, Option<Arc<str>>)>,
    spent: Duration,
}

/// `florc._native.Seen`: the `write` of a stream, which also tells `sink` of each line: `sink(payload)` of several at once as
/// JSON (`batched`), else `sink(parts, file, line)`. `project` is a container of the project's files. Lines of threads other
/// than the one whose loops are followed are let through unseen: their order is not the program's.
#[pyclass(name = "Seen", module = "florc._native", frozen)]
pub struct PySeen {
    write: Py<PyAny>,
    sink: Py<PyAny>,
    project: Py<PyAny>,
    batched: bool,
    paused: std::sync::atomic::AtomicI64,
    seen: Mutex<Seen>,
}

#[pymethods]
impl PySeen {
    #[new]
    fn new(write: Py<PyAny>, sink: Py<PyAny>, project: Py<PyAny>, batched: bool) -> Self {
        Self { write, sink, project, batched, paused: 0.into(), seen: Mutex::default() }
    }

    /// Writes a text, as the stream does.
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let written = self.write.bind(py).call(args, kwargs)?;
        let take = || {
            if self.paused.load(std::sync::atomic::Ordering::Relaxed) == 0
                && is_followed()
                && let Ok(text) = args.get_item(0)
                && let Ok(text) = text.cast_into::<PyString>()
            {
                self.take(py, &text)?;
            }
            Ok(())
        };
        // seeing may fail, printing may not
        if let Err(error) = guard(take) {
            let module = py.import("florc.support.mishaps")?;
            module.call_method1("swallowed", ("seeing what is printed", error.into_value(py)))?;
        }
        Ok(written.unbind())
    }

    /// While above zero, lines are a probe's own and are not seen.
    fn pause(&self, change: i64) {
        self.paused.fetch_add(change, std::sync::atomic::Ordering::Relaxed);
    }

    /// Hands on the lines that wait.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let begun = Instant::now();
        let told = self.hand_on(py);
        lock(&self.seen).spent += begun.elapsed();
        told
    }

    /// Hands on what waits, an unfinished line too unless the script was cut off in it.
    fn close(&self, py: Python<'_>, is_cut: bool) -> PyResult<()> {
        let parts = std::mem::take(&mut lock(&self.seen).parts);
        if !parts.is_empty() && !is_cut {
            self.add(py, parts, None, 0)?;
        }
        lock(&self.seen).writer = None;
        self.flush(py)
    }

    /// Seconds that seeing took.
    #[getter]
    fn spent(&self) -> f64 {
        lock(&self.seen).spent.as_secs_f64()
    }
}

impl PySeen {
    fn hand_on(&self, py: Python<'_>) -> PyResult<()> {
        let lines = {
            let mut seen = lock(&self.seen);
            seen.bytes = 0;
            seen.since = None;
            std::mem::take(&mut seen.lines)
        };
        if lines.is_empty() {
            return Ok(());
        }
        let payload = serde_json::json!({ "lines": lines }).to_string();
        self.sink.call1(py, (payload,)).map(|_| ())
    }

    fn take(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<()> {
        let begun = Instant::now();
        let text = match text.to_str() {
            Ok(text) => text.to_owned(),
            // lone surrogates
            Err(_) => text
                .call_method1("encode", ("utf-8", "backslashreplace"))?
                .extract::<Vec<u8>>()
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())?,
        };
        let path = self.path();
        let mut rest = text.as_str();
        let mut writer = None;
        while let Some((line, after)) = rest.split_once('\n') {
            if writer.is_none() {
                writer = Some(self.writer(py)?);
            }
            let mut parts = std::mem::take(&mut lock(&self.seen).parts);
            parts.push((Arc::clone(&path), line.to_owned()));
            let (file, number) = writer.clone().unwrap_or_default();
            self.add(py, parts, file, number)?;
            rest = after;
        }
        if !rest.is_empty() {
            lock(&self.seen).parts.push((path, rest.to_owned()));
        }
        lock(&self.seen).spent += begun.elapsed();
        Ok(())
    }

    fn path(&self) -> Arc<str> {
        let path = loop_path();
        let mut seen = lock(&self.seen);
        if let Some(known) = seen.path.as_ref().filter(|known| ***known == *path) {
            return Arc::clone(known);
        }
        let path: Arc<str> = path.into();
        seen.path = Some(Arc::clone(&path));
        path
    }

    fn add(&self, py: Python<'_>, parts: Vec<(Arc<str>, String)>, file: Option<Arc<str>>, number: i64) -> PyResult<()> {
        if !self.batched {
            let parts: Vec<(&str, &str)> = parts.iter().map(|(path, text)| (&**path, text.as_str())).collect();
            return self.sink.call1(py, (parts, file.as_deref().unwrap_or(""), number)).map(|_| ());
        }
        let is_due = {
            let mut seen = lock(&self.seen);
            let text: String = parts.iter().map(|(_, text)| text.as_str()).collect();
            let path = parts.last().map_or_else(|| "".into(), |(path, _)| Arc::clone(path));
            let several = if parts.iter().any(|(other, _)| *other != path) { parts } else { Vec::new() };
            seen.bytes += text.len();
            seen.lines.push(Line(path, text, file, number, several));
            let since = *seen.since.get_or_insert_with(Instant::now);
            seen.lines.len() >= MOST_LINES || seen.bytes >= MOST_BYTES || since.elapsed() > LONGEST
        };
        if is_due { self.hand_on(py) } else { Ok(()) }
    }

    /// The statement of the project that writes: its file and line; of a library, a line number below zero for the one that
    /// called it. Nothing when Python itself writes, as for `atexit`.
    fn writer(&self, py: Python<'_>) -> PyResult<(Option<Arc<str>>, i64)> {
        // SAFETY: the frame that called, borrowed, or null
        let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) };
        let mut sign = 1;
        for _ in 0..MOST_FRAMES {
            let Some(at) = frame else { break };
            // SAFETY: `at` is a frame; the result is a new reference and never null
            let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(at.as_ptr().cast()).cast()) };
            if let Some(file) = self.file_of(&code)? {
                // SAFETY: `at` is a frame
                let number = unsafe { ffi::PyFrame_GetLineNumber(at.as_ptr().cast()) };
                return Ok((Some(file), sign * i64::from(number)));
            }
            sign = -1;
            frame = at.getattr("f_back").ok().filter(|back| !back.is_none());
        }
        Ok((None, 0))
    }

    fn file_of(&self, code: &Bound<'_, PyAny>) -> PyResult<Option<Arc<str>>> {
        if let Some((known, file)) = &lock(&self.seen).writer
            && known.is(code)
        {
            return Ok(file.clone());
        }
        let file: String = code.getattr("co_filename")?.extract().unwrap_or_default();
        let file = self.project.bind(code.py()).contains(&file)?.then(|| file.into());
        lock(&self.seen).writer = Some((code.clone().unbind(), file.clone()));
        Ok(file)
    }
}
