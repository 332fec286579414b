//! Tensors whose elements lie in host memory without gaps: their node, with no more questions than needed.
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};

use super::dtypes::Dtype;
use super::how::Class;
use super::json::{put_list, put_number, put_str};
use super::nodes::{put_named, put_value};
use super::walk::Walk;

/// `["tensor", leaf, dtype, shape, stride, "cpu", flags, null, gradient, attributes, raw]` as `state/tensors.py` says it. False,
/// and something unfinished appended, when the tensor needs a closer look: on a device, sparse, with a history, a lazy view.
pub(super) fn put_tensor(
    slf: &Bound<'_, Walk>,
    tensor: &Bound<'_, PyAny>,
    class: &Class,
    out: &mut String,
) -> PyResult<bool> {
    let py = slf.py();
    let walk = slf.get();
    if !tensor.getattr(intern!(py, "is_cpu"))?.is_truthy()?
        || !tensor.getattr(intern!(py, "grad_fn"))?.is_none()
        || tensor.call_method0(intern!(py, "is_neg"))?.is_truthy()?
    {
        return Ok(false);
    }
    let requires_grad = tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()?;
    let Some((dtype, item)) = dtype_of(walk, tensor)? else { return Ok(false) };
    // sparse tensors and others without memory of their own raise
    let Ok(address) = tensor.call_method0(intern!(py, "data_ptr")) else { return Ok(false) };
    let address: usize = address.extract()?;
    let shape = numbers(&tensor.getattr(intern!(py, "shape"))?)?;
    let stride = numbers(&tensor.call_method0(intern!(py, "stride"))?)?;
    let count: usize = shape.iter().product();
    if address == 0 && count > 0 {
        return Ok(false); // its memory was given back (FSDP frees what it gathers)
    }
    let Some(layout) = Layout::of(&shape, &stride, count) else { return Ok(false) };

    out.push_str("[\"tensor\",");
    if count == 0 {
        out.push_str("null");
    } else {
        let mut found = walk.found();
        let device = found.device("cpu");
        found.add_span(device, address, layout.span * item);
        let index = found.memory_leaf(address, layout.span * item, || tensor.clone().unbind())?;
        put_number(index, out);
        drop(found);
        let is_as_before = walk.classes.get().had_memory(tensor.as_ptr() as usize, address, walk.since);
        if !is_as_before && has_lone_memory(tensor).unwrap_or(false) {
            let mut found = walk.found();
            if let Ok(number) = usize::try_from(found.current) {
                found.lone_memory.push(number);
            }
        }
    }
    out.push(',');
    put_str(&dtype, out);
    for sizes in [&shape, &stride] {
        out.push(',');
        put_list(sizes, out, |size, out| put_number(*size, out));
    }
    let parameter = if class.name.1 == "Parameter" { "p" } else { "" };
    for text in [",\"cpu\",\"", parameter, if requires_grad { "r" } else { "" }, "\",null,"] {
        out.push_str(text);
    }
    let gradient = if requires_grad { Some(tensor.getattr(intern!(py, "grad"))?) } else { None };
    match gradient {
        Some(gradient) if walk.gradients => walk.exposing(|| put_value(slf, &gradient, out))?,
        _ => {
            if gradient.is_some_and(|gradient| !gradient.is_none()) {
                walk.found().leaves_gradient();
            }
            out.push_str("null");
        }
    }
    if requires_grad {
        let hooks = hooks_of(tensor)?;
        walk.found().add_hooks(hooks);
    }
    out.push_str(",[");
    let attributes = tensor.getattr(intern!(py, "__dict__"))?.cast_into::<PyDict>()?;
    if !attributes.is_empty() {
        put_named(slf, &attributes, &[], out)?;
    }
    out.push_str(if layout.raw { "],true]" } else { "],false]" });
    Ok(true)
}

/// Whether no other tensor lies in the memory of this one.
fn has_lone_memory(tensor: &Bound<'_, PyAny>) -> PyResult<bool> {
    static COUNT: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    /// The tensor, and the object that stands for its memory while it is asked.
    const OWN: usize = 2;
    let py = tensor.py();
    let count =
        COUNT.get_or_try_init(py, || Ok::<_, PyErr>(py.import("torch._C")?.getattr("_storage_Use_Count")?.unbind()))?;
    let storage = tensor.call_method0(intern!(py, "untyped_storage"))?;
    let users: usize = count.bind(py).call1((storage.getattr(intern!(py, "_cdata"))?,))?.extract()?;
    Ok(users <= OWN)
}

/// How many hooks a tensor has.
fn hooks_of(tensor: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = tensor.py();
    let mut count = 0;
    for name in [intern!(py, "_backward_hooks"), intern!(py, "_post_accumulate_grad_hooks")] {
        if let Some(hooks) = tensor.getattr_opt(name)?
            && let Ok(hooks) = hooks.cast::<PyDict>()
        {
            count += hooks.len();
        }
    }
    Ok(count)
}

/// How the elements of a tensor lie in memory.
struct Layout {
    /// Elements from the first to the last one.
    span: usize,
    /// In another order than C.
    raw: bool,
}

impl Layout {
    /// `None` when there are gaps between the elements.
    fn of(shape: &[usize], stride: &[usize], count: usize) -> Option<Layout> {
        if count == 0 {
            return Some(Layout { span: 0, raw: false });
        }
        let mut expected = 1;
        let mut is_contiguous = true;
        let mut last = 0;
        for (size, step) in shape.iter().zip(stride).rev() {
            is_contiguous &= *size == 1 || *step == expected;
            expected *= size;
            last += (size - 1) * step;
        }
        if is_contiguous {
            return Some(Layout { span: count, raw: false });
        }
        (last < count).then_some(Layout { span: last + 1, raw: true })
    }
}

fn numbers(sizes: &Bound<'_, PyAny>) -> PyResult<Vec<usize>> {
    sizes.cast::<PyTuple>()?.iter().map(|size| size.extract()).collect()
}

fn dtype_of(walk: &Walk, tensor: &Bound<'_, PyAny>) -> PyResult<Dtype> {
    let py = tensor.py();
    let dtype = tensor.getattr(intern!(py, "dtype"))?;
    let address = dtype.as_ptr() as usize;
    if let Some(known) = walk.found().dtypes.get(&address) {
        return Ok(known.clone());
    }
    let is_special = dtype.getattr(intern!(py, "is_complex"))?.is_truthy()?
        || tensor.getattr(intern!(py, "is_quantized"))?.is_truthy()?;
    let name = dtype.str()?.to_str()?.trim_start_matches("torch.").to_string();
    let item = tensor.call_method0(intern!(py, "element_size"))?.extract()?;
    let known = (!is_special).then_some((name, item));
    walk.found().dtypes.insert(address, known.clone());
    Ok(known)
}
