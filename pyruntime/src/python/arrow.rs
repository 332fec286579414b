//! Columns of Python values as a stream of Arrow, which pandas, polars, DuckDB and pyarrow read without a copy in Python.
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyFloat, PyInt, PyList};
use std::sync::Arc;

/// What all values of a column are, beside None.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Nothing but None.
    Empty,
    Truth,
    Whole,
    Number,
    Text,
}

/// A capsule `arrow_array_stream` with one batch of these columns. `wholes`, `numbers`: names of columns that are of these types where
/// they hold nothing but None; others are texts then.
///
/// # Errors
/// ValueError for columns of several lengths; what `str` of a value raises.
#[pyfunction]
pub fn arrow_stream<'py>(
    py: Python<'py>,
    names: Vec<String>,
    columns: Vec<Bound<'py, PyList>>,
    wholes: Vec<String>,
    numbers: Vec<String>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let least = |name: &String| match () {
        () if wholes.contains(name) => Kind::Whole,
        () if numbers.contains(name) => Kind::Number,
        () => Kind::Empty,
    };
    let arrays: Vec<ArrayRef> =
        names.iter().zip(&columns).map(|(name, column)| array(column, least(name))).collect::<PyResult<_>>()?;
    let fields: Vec<Field> =
        names.into_iter().zip(&arrays).map(|(name, array)| Field::new(name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let failed = |error: ArrowError| PyValueError::new_err(error.to_string());
    let batch = RecordBatch::try_new(schema.clone(), arrays).map_err(failed)?;
    let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new([Ok(batch)], schema)));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn kind_of(value: &Bound<'_, PyAny>) -> Kind {
    if value.is_none() {
        Kind::Empty
    } else if value.is_instance_of::<PyBool>() {
        Kind::Truth
    } else if value.is_instance_of::<PyInt>() {
        if value.extract::<i64>().is_ok() { Kind::Whole } else { Kind::Text }
    } else if value.is_instance_of::<PyFloat>() {
        Kind::Number
    } else {
        Kind::Text
    }
}

/// What holds values of both kinds.
fn together(one: Kind, other: Kind) -> Kind {
    match (one.min(other), one.max(other)) {
        (low, high) if low == high || low == Kind::Empty => high,
        (Kind::Whole, Kind::Number) => Kind::Number,
        _ => Kind::Text,
    }
}

fn array(column: &Bound<'_, PyList>, least: Kind) -> PyResult<ArrayRef> {
    let kind = column.iter().map(|value| kind_of(&value)).fold(least, together);
    let given = |value: Bound<'_, PyAny>| if value.is_none() { None } else { Some(value.unbind()) };
    let py = column.py();
    Ok(match kind {
        Kind::Truth => {
            let mut builder = BooleanBuilder::new();
            for value in column.iter().map(given) {
                builder.append_option(value.map(|value| value.extract::<bool>(py)).transpose()?);
            }
            Arc::new(builder.finish())
        }
        Kind::Whole => {
            let mut builder = Int64Builder::new();
            for value in column.iter().map(given) {
                builder.append_option(value.map(|value| value.extract::<i64>(py)).transpose()?);
            }
            Arc::new(builder.finish())
        }
        Kind::Number => {
            let mut builder = Float64Builder::new();
            for value in column.iter().map(given) {
                builder.append_option(value.map(|value| value.extract::<f64>(py)).transpose()?);
            }
            Arc::new(builder.finish())
        }
        Kind::Empty | Kind::Text => {
            let mut builder = StringBuilder::new();
            for value in column.iter().map(given) {
                builder.append_option(value.map(|value| value.bind(py).str()?.extract::<String>()).transpose()?);
            }
            Arc::new(builder.finish())
        }
    })
}
