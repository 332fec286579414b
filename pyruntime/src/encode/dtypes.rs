//! What the elements of tensors are, asked once for each dtype.
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use crate::class_table::AddressHasher;

/// A dtype whose elements are plain numbers: its name and the bytes of an element; `None` for others.
pub(super) type Dtype = Option<(String, usize)>;
/// By address: dtypes live as long as torch.
pub(super) type Dtypes = HashMap<usize, Dtype, BuildHasherDefault<AddressHasher>>;
