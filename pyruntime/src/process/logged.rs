//! What a logger was told: a handler puts the time, a level and colours around it, and only the handler knows where.
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Where the message stands in a line: the first character, and how many there are.
pub type Span = (usize, usize);

/// The message that a handler is about to write, if this frame is one's `emit`: `logging`'s formatter leaves it in the record, loguru's
/// record is a dict. Runs nobody's code: records of a class of the user's are not looked into.
pub fn message(frame: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> Option<String> {
    let py = frame.py();
    let name = code.getattr(intern!(py, "co_name")).ok()?;
    if name.cast_exact::<PyString>().ok()? != "emit" {
        return None;
    }
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
            record.getattr(intern!(py, "__dict__")).ok()?.get_item(intern!(py, "message")).ok()?
        }
    };
    told.cast_exact::<PyString>().ok()?.to_str().ok().map(str::to_owned)
}

/// Where a line has the message; None where it is not all in it.
pub fn place(line: &str, message: &str) -> Option<Span> {
    let at = line.rfind(message).filter(|_| !message.is_empty())?;
    Some((line.get(..at)?.chars().count(), message.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_message_is_found_behind_what_a_handler_writes() {
        assert_eq!(place("é INFO t: a 1", "a 1"), Some((10, 3)));
        assert_eq!(place("1 INFO 1", "1"), Some((7, 1)));
        assert_eq!(place("INFO first", "first\nsecond"), None);
        assert_eq!(place("INFO ", ""), None);
    }
}
