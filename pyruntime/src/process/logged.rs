//! What a logger was told: a handler puts the time, a level and colours around it, and only the handler knows where.
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString, PyTuple};

/// Where the message stands in a line: the first character, and how many there are.
pub type Span = (usize, usize);

/// Whether this is the code of an `emit`.
pub fn may_be_handler(code: &Bound<'_, PyAny>) -> bool {
    let name = code.getattr(intern!(code.py(), "co_name")).ok();
    name.is_some_and(|name| name.cast_exact::<PyString>().is_ok_and(|name| name == "emit"))
}

/// The message that a handler is about to write, if this frame is one's `emit`: `logging`'s formatter leaves it in the record, loguru's
/// record is a dict. Runs nobody's code: records of a class of the user's are not looked into.
pub fn message(frame: &Bound<'_, PyAny>) -> Option<String> {
    let py = frame.py();
    let locals = frame.getattr(intern!(py, "f_locals")).ok()?;
    let record = locals.get_item(intern!(py, "record")).ok()?;
    let told = match record.cast_exact::<PyDict>() {
        Ok(fields) => fields.get_item(intern!(py, "message")).ok()??,
        Err(_) => {
            let logging =
                py.import(intern!(py, "sys")).ok()?.getattr(intern!(py, "modules")).ok()?.get_item("logging").ok()?;
            if !record.get_type().is(&logging.getattr(intern!(py, "LogRecord")).ok()?) {
                return None;
            }
            let fields = record.getattr(intern!(py, "__dict__")).ok()?;
            match fields.get_item(intern!(py, "message")) {
                Ok(told) => told,
                Err(_) => put_together(&fields)?,
            }
        }
    };
    told.cast_exact::<PyString>().ok()?.to_str().ok().map(str::to_owned)
}

/// The message of a record whose formatter does not leave it there: its text, with what is put into it where that runs nobody's code.
fn put_together<'py>(fields: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let py = fields.py();
    let text = fields.get_item(intern!(py, "msg")).ok()?;
    let text = text.cast_exact::<PyString>().ok()?;
    let args = fields.get_item(intern!(py, "args")).ok()?;
    if !args.is_truthy().ok()? {
        return Some(text.clone().into_any());
    }
    let is_plain = |value: Bound<'py, PyAny>| {
        value.is_none()
            || value.is_exact_instance_of::<PyString>()
            || value.is_exact_instance_of::<PyInt>()
            || value.is_exact_instance_of::<PyFloat>()
            || value.is_exact_instance_of::<PyBool>()
    };
    let args = args.cast_exact::<PyTuple>().ok()?;
    args.iter().all(is_plain).then(|| text.rem(args).ok()).flatten()
}

/// Where a line has the message, or the one line of it that is in this line: the longest. None where there is none.
pub fn place(line: &str, message: &str) -> Option<Span> {
    let told =
        message.lines().filter(|told| !told.trim().is_empty() && line.contains(told)).max_by_key(|told| told.len())?;
    let at = line.rfind(told)?;
    Some((line.get(..at)?.chars().count(), told.chars().count()))
}

/// The part of a line that a message has in it.
pub fn part(line: &str, message: &str) -> Option<String> {
    let (begin, count) = place(line, message)?;
    Some(line.chars().skip(begin).take(count).collect())
}

#[cfg(test)]
mod tests {
    use super::{part, place};

    #[test]
    fn a_message_is_found_behind_what_a_handler_writes() {
        assert_eq!(place("é INFO t: a 1", "a 1"), Some((10, 3)));
        assert_eq!(place("1 INFO 1", "1"), Some((7, 1)));
        assert_eq!(place("INFO ", ""), None);
    }

    #[test]
    fn each_line_of_a_message_is_found() {
        let message = "a 1\n  a 1.5 b\n\nc";
        assert_eq!(part("INFO a 1", message).as_deref(), Some("a 1"));
        assert_eq!(part("  a 1.5 b", message).as_deref(), Some("  a 1.5 b"));
        assert_eq!(part("c", message).as_deref(), Some("c"));
        assert_eq!(part("", message), None);
        assert_eq!(part("Traceback", "first\nsecond"), None);
    }
}
