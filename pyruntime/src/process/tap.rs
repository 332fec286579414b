//! Sees what is written to `sys.stdout` and `sys.stderr` without standing in its way: native, because some scripts print 100,000 lines.
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::guard::interrupts::{self, Hold};
use crate::guard::panics::{guard, mishap};
use crate::locks::lock;
use crate::nest::follow::place_now;
use crate::nest::owner::is_followed;
use crate::process::line::{Forked, Line, Lines};
use crate::process::logged::{self, part, place};
use pyo3::Borrowed;
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// How far up the caller of a library's `print` is looked for.
const MOST_FRAMES: usize = 40;
/// Lines are handed on together: at most so many,
const MOST_LINES: usize = 256;
/// of so many bytes,
const MOST_BYTES: usize = 1 << 16;
/// and no longer after the first than this, where one is printed: a run that is killed loses those that wait.
const LONGEST: Duration = Duration::from_millis(250);
/// So many code objects are kept.
const MOST_KNOWN: usize = 1_000;
/// So many lines of one run of an added statement are kept beside what it printed.
const MOST_ANSWERS: usize = 10_000;

/// The statement that writes: file and line, the latter below 0 where a library wrote for it, and what a logger was told.
#[derive(Clone, Default)]
struct Writer {
    file: Option<Arc<str>>,
    number: i64,
    message: Option<String>,
}

/// What is known of a code object, which is kept so that its address stays its own.
struct Known {
    _code: Py<PyAny>,
    /// Its file, if that is the project's.
    file: Option<Arc<str>>,
    /// Whether it may be a handler of a logger.
    is_handler: bool,
}

#[derive(Default)]
struct Seen {
    /// The line that is not at its end, in pieces that were written at different places.
    parts: Vec<(Arc<str>, String)>,
    /// The statement that began it.
    begun_by: Option<(Option<Arc<str>>, i64)>,
    lines: Vec<Line>,
    bytes: usize,
    since: Option<Instant>,
    /// The code that wrote, by its address: a logger has seven frames between a statement and the stream.
    known: HashMap<usize, Known>,
    spent: Duration,
    /// What an added statement wrote: lines, and in each what a logger was told.
    answers: Vec<(String, Option<String>)>,
    /// The beginning of a line of it.
    begun: String,
}

impl Seen {
    fn part(&mut self, path: &Arc<str>, text: &str) {
        match self.parts.last_mut() {
            Some((place, written)) if Arc::ptr_eq(place, path) || place == path => written.push_str(text),
            _ => self.parts.push((Arc::clone(path), text.to_owned())),
        }
    }

    /// A line is at its end. Whether those that wait are to be handed on.
    fn line(&mut self, writer: &Writer, now: Instant) -> bool {
        let mut parts = std::mem::take(&mut self.parts);
        let (path, text, several) = match parts.pop() {
            Some((path, text)) if parts.is_empty() => (path, text, Vec::new()),
            Some((path, last)) => {
                let text = parts.iter().map(|(_, text)| text.as_str()).chain([last.as_str()]).collect();
                parts.push((Arc::clone(&path), last));
                (path, text, parts)
            }
            None => return false,
        };
        self.bytes += text.len();
        let message = writer.message.as_deref().and_then(|message| place(&text, message));
        let (file, number) = (writer.file.clone(), writer.number);
        let begun = self.begun_by.take().filter(|begun| *begun != (file.clone(), number));
        let begun = begun.map(|(begun_in, line)| if begun_in == file { line } else { 0 });
        self.lines.push(Line { path, text, file, number, parts: several, message, begun });
        let since = *self.since.get_or_insert(now);
        self.lines.len() >= MOST_LINES || self.bytes >= MOST_BYTES || now.duration_since(since) > LONGEST
    }
}

/// An argument, if one is given.
struct Given<'py>(Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = std::convert::Infallible;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> Result<Self, Self::Error> {
        Ok(Self(Some(object.to_owned())))
    }
}

/// `florc._native.Seen`: its `write` is that of a stream, and also tells `sink` of each line: `sink(payload)` of several at once as
/// JSON (`batched`; an empty text before what is written first after a Ctrl-C), else `sink(parts, file, line)`. `project` is a container
/// of the project's files. Lines of threads other than the one whose loops are followed are let through unseen: their order is not the
/// program's. Of standard error (`is_error`) it sees what the project's statements print there, and what loggers do: not bars of
/// progress, nor warnings. `at_top` is called after each line that is printed outside followed loops and blocks.
#[pyclass(name = "Seen", module = "florc._native", frozen)]
pub struct PySeen {
    write: Py<PyAny>,
    sink: Py<PyAny>,
    project: Py<PyAny>,
    batched: bool,
    is_error: bool,
    at_top: Option<Py<PyAny>>,
    paused: std::sync::atomic::AtomicI64,
    /// In a child that the script forked: where its lines go.
    forked: Mutex<Option<Arc<Forked>>>,
    seen: Mutex<Seen>,
}

#[pymethods]
impl PySeen {
    #[new]
    #[pyo3(signature = (write, sink, project, batched, is_error=false, at_top=None))]
    fn new(
        write: Py<PyAny>,
        sink: Py<PyAny>,
        project: Py<PyAny>,
        batched: bool,
        is_error: bool,
        at_top: Option<Py<PyAny>>,
    ) -> Self {
        Self {
            write,
            sink,
            project,
            batched,
            is_error,
            at_top,
            paused: 0.into(),
            forked: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// Writes a text, as the stream does; what it is called with otherwise, the stream's own `write` refuses.
    #[pyo3(signature = (text=Given(None), /, *further, **keywords))]
    fn write<'py>(
        &self,
        py: Python<'py>,
        text: Given<'py>,
        further: &Bound<'py, PyTuple>,
        keywords: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let write = self.write.bind(py);
        let (Given(Some(text)), true, None) = (&text, further.is_empty(), keywords) else {
            let all = text.0.into_iter().chain(further.iter());
            return write.call(PyTuple::new(py, all.collect::<Vec<_>>())?, keywords);
        };
        // SAFETY: two objects and the null at the end; a new reference comes back, or null with an error set. Without a tuple.
        let written = unsafe {
            let written =
                ffi::PyObject_CallFunctionObjArgs(write.as_ptr(), text.as_ptr(), std::ptr::null_mut::<ffi::PyObject>());
            Bound::from_owned_ptr_or_err(py, written)?
        };
        // the handler of a signal that came meanwhile runs now, as it would without florc; what comes now waits for the end
        let came = py.check_signals();
        let held = Hold::new();
        let take = || {
            if (is_followed() || lock(&self.forked).is_some())
                && let Ok(text) = text.cast::<PyString>()
            {
                self.take(py, text)?;
            }
            Ok(())
        };
        // seeing may fail, printing may not
        let seen = guard(take).or_else(|error| mishap(py, "seeing what is printed", error));
        drop(held);
        came.and(seen)?;
        Ok(written)
    }

    /// While above zero, lines are a probe's own: those that `answers` tells of, and no others, are seen.
    fn pause(&self, change: i64) {
        self.paused.fetch_add(change, std::sync::atomic::Ordering::Relaxed);
    }

    /// What was written while paused, since this was last asked: lines, and in each what a logger was told. Of standard output, only
    /// those of loggers; of standard error, what the statements print there, too.
    fn answers(&self) -> Vec<(String, Option<String>)> {
        let mut seen = lock(&self.seen);
        if !seen.begun.is_empty() {
            let rest = std::mem::take(&mut seen.begun);
            seen.answers.push((rest, None));
        }
        std::mem::take(&mut seen.answers)
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
        if is_cut {
            lock(&self.seen).parts.clear();
        } else if !lock(&self.seen).parts.is_empty() {
            self.line(py, &Writer::default(), Instant::now())?;
        }
        let known = std::mem::take(&mut lock(&self.seen).known);
        drop(known); // somebody may be told that a code object is gone, and print
        self.flush(py)
    }

    /// In a child that the script forked: from now on each line of any thread is added to the file `path` at once, as the payload
    /// of a record `child lines`. `place`: where in the loop nest it was forked.
    fn fork(&self, path: String, child: String, place: &str) {
        *lock(&self.forked) = Some(Arc::new(Forked { path, child, place: place.into() }));
        let mut seen = lock(&self.seen);
        seen.parts.clear(); // these are the parent's
        seen.begun_by = None;
        seen.lines.clear();
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
        let forked = lock(&self.forked).clone();
        if let Some(forked) = forked {
            return Ok(forked.tell(lines, self.is_error)?);
        }
        let payload =
            serde_json::to_string(&Lines { lines }).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.sink.call1(py, (payload,)).map(|_| ())
    }

    fn take(&self, py: Python<'_>, text: &Bound<'_, PyString>) -> PyResult<()> {
        let begun = Instant::now();
        let is_answer = self.paused.load(std::sync::atomic::Ordering::Relaxed) != 0;
        let look = |text: &str| if is_answer { self.answer(py, text) } else { self.see(py, text, begun) };
        match text.to_str() {
            Ok(text) => look(text)?,
            // lone surrogates
            Err(_) => {
                let bytes: Vec<u8> = text.call_method1("encode", ("utf-8", "backslashreplace"))?.extract()?;
                look(&String::from_utf8_lossy(&bytes))?;
            }
        }
        lock(&self.seen).spent += begun.elapsed();
        Ok(())
    }

    /// Whether what this one writes to standard error is the project's own.
    const fn is_own(writer: &Writer) -> bool {
        writer.number > 0 || writer.message.is_some()
    }

    fn answer(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let writer = self.writer(py)?;
        if !(if self.is_error { Self::is_own(&writer) } else { writer.message.is_some() }) {
            return Ok(());
        }
        let mut seen = lock(&self.seen);
        let whole = std::mem::take(&mut seen.begun) + text;
        let is_whole = whole.find('\n').is_some_and(|end| end + 1 == whole.len());
        let mut rest = whole.as_str();
        while let Some((line, after)) = rest.split_once('\n') {
            let message = writer.message.as_deref().and_then(|message| part(line, message));
            // a line that shows it in another form, as JSON does a text with quotes, has it all the same
            let message = message.or_else(|| (is_whole && writer.message.is_some()).then(|| line.to_owned()));
            if seen.answers.len() < MOST_ANSWERS {
                seen.answers.push((line.to_owned(), message));
            }
            rest = after;
        }
        seen.begun = rest.to_owned();
        Ok(())
    }

    fn see(&self, py: Python<'_>, text: &str, now: Instant) -> PyResult<()> {
        let forked = lock(&self.forked).clone();
        let path = forked.as_ref().map_or_else(place_now, |forked| Arc::clone(&forked.place));
        if self.batched && !self.is_error && forked.is_none() && interrupts::is_place_kept() {
            self.sink.call1(py, ("",))?; // what is written from here on comes after the interrupt
        }
        let mut rest = text;
        let mut writer = None;
        if self.is_error && !Self::is_own(writer.insert(self.writer(py)?)) {
            return Ok(());
        }
        while let Some((line, after)) = rest.split_once('\n') {
            if writer.is_none() {
                writer = Some(self.writer(py)?);
            }
            lock(&self.seen).part(&path, line);
            self.line(py, writer.as_ref().unwrap_or(&Writer::default()), now)?;
            if let Some(told) = self.at_top.as_ref().filter(|_| path.is_empty() && forked.is_none()) {
                told.call0(py)?;
            }
            rest = after;
        }
        if !rest.is_empty() {
            if self.batched && lock(&self.seen).parts.is_empty() {
                let begins = if let Some(writer) = writer { writer } else { self.writer(py)? };
                lock(&self.seen).begun_by = Some((begins.file, begins.number));
            }
            lock(&self.seen).part(&path, rest);
        }
        if forked.is_some() { self.hand_on(py) } else { Ok(()) }
    }

    fn line(&self, py: Python<'_>, writer: &Writer, now: Instant) -> PyResult<()> {
        if self.batched {
            let is_due = lock(&self.seen).line(writer, now);
            return if is_due { self.hand_on(py) } else { Ok(()) };
        }
        let parts = std::mem::take(&mut lock(&self.seen).parts);
        let parts: Vec<(&str, &str)> = parts.iter().map(|(path, text)| (&**path, text.as_str())).collect();
        self.sink.call1(py, (parts, writer.file.as_deref().unwrap_or(""), writer.number)).map(|_| ())
    }

    /// The statement of the project that writes: its file and line; of a library, a line number below zero for the one that
    /// called it. Nothing when Python itself writes, as for `atexit`.
    fn writer(&self, py: Python<'_>) -> PyResult<Writer> {
        // SAFETY: the frame that called, borrowed, or null
        let mut frame = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetFrame().cast()) };
        let (mut sign, mut message) = (1, None);
        for _ in 0..MOST_FRAMES {
            let Some(at) = frame else { break };
            // SAFETY: `at` is a frame; the result is a new reference and never null
            let code = unsafe { Bound::from_owned_ptr(py, ffi::PyFrame_GetCode(at.as_ptr().cast()).cast()) };
            let (file, is_handler) = self.known(&code)?;
            // of two handlers of libraries, one that calls the other, the inner one has told
            let may_tell = is_handler && (message.is_none() || file.is_some());
            if let Some(told) = may_tell.then(|| logged::message(&at)).flatten() {
                // a handler, of the project's too: it writes for the statement that told its logger something
                message = message.or(Some(told));
            } else if let Some(file) = file {
                // SAFETY: `at` is a frame
                let number = unsafe { ffi::PyFrame_GetLineNumber(at.as_ptr().cast()) };
                return Ok(Writer { file: Some(file), number: sign * i64::from(number), message });
            }
            sign = -1;
            frame = at.getattr("f_back").ok().filter(|back| !back.is_none());
        }
        Ok(Writer { file: None, number: 0, message })
    }

    /// The file of code, if that is the project's, and whether it may be a handler of a logger.
    fn known(&self, code: &Bound<'_, PyAny>) -> PyResult<(Option<Arc<str>>, bool)> {
        let address = code.as_ptr() as usize;
        if let Some(known) = lock(&self.seen).known.get(&address) {
            return Ok((known.file.clone(), known.is_handler));
        }
        let file: String = code.getattr("co_filename")?.extract().unwrap_or_default();
        let file: Option<Arc<str>> = self.project.bind(code.py()).contains(&file)?.then(|| file.into());
        let is_handler = logged::may_be_handler(code);
        let known = Known { _code: code.clone().unbind(), file: file.clone(), is_handler };
        let mut seen = lock(&self.seen);
        let forgotten = if seen.known.len() < MOST_KNOWN { HashMap::new() } else { std::mem::take(&mut seen.known) };
        seen.known.insert(address, known);
        drop(seen);
        drop(forgotten); // not while the lock is held: somebody may be told, and print
        Ok((file, is_handler))
    }
}
