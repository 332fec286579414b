//! Objects → the text of one object graph, and the leaves it refers to.
//!
//! `encoder` drives it, `walk` numbers objects breadth first and asks Python (`state/classify.py`) once for each class what is done with its
//! objects; `nodes` encodes what a training state consists of (numbers, lists, dicts, tensors, modules, plain objects),
//! and encoders in Python the rest. The text is what `json.dumps` would write: `state/restore.py` reads it.
pub mod addresses;
mod classes;
mod dtypes;
mod encoder;
mod found;
mod how;
mod json;
mod leaves;
mod nodes;
mod numbers;
mod parts;
mod proxy;
mod shared;
mod tensor;
mod walk;

pub use classes::Classes;
pub use json::put_str;
pub use leaves::{Leaves, MemoryLeaf};
pub use nodes::instance_dict;
pub use parts::{part_of, parts_and_remote_of, parts_of};
pub use proxy::referent;
pub use walk::Walk;
