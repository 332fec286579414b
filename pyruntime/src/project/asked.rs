//! Questions of `florc ask`, written into a text.
use florc::Source;
use florc::probes::{Place, Question};
use florc::syntax::{DEEP_STACK, on_deep_stack};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The text with a log statement for each question: (the number of a line, the number and True for the body of the statement there,
/// the variable of a loop, or None for each step of an optimizer; an expression). And sentences that say on which side of a statement
/// with a body some are.
///
/// # Errors
/// ValueError, with a sentence, where one cannot be asked.
#[pyfunction]
pub fn ask(text: &str, name: &str, questions: Vec<(Option<Asked>, String)>) -> PyResult<(String, Vec<String>)> {
    let questions: Vec<Question> = questions
        .into_iter()
        .map(|(place, expression)| {
            let place = match place {
                Some(Asked::Line(line)) => Place::Line(line),
                Some(Asked::Body(line, is_inside)) => {
                    if is_inside {
                        Place::Inside(line)
                    } else {
                        Place::Line(line)
                    }
                }
                Some(Asked::Loop(variable)) => Place::AfterLoop(variable),
                None => Place::Steps,
            };
            Question { place, expression }
        })
        .collect();
    on_deep_stack(DEEP_STACK, || florc::probes::ask(&Source::new(name, text), &questions))
        .map_err(PyValueError::new_err)
}

/// A place, as Python names it.
#[derive(FromPyObject)]
pub enum Asked {
    /// A line, 1-based.
    Line(usize),
    /// The same, and whether the body of its statement is meant.
    Body(usize, bool),
    /// The variable of a loop.
    Loop(String),
}
