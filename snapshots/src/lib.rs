//! Snapshot tests live in `tests/`; this package has no code of its own.
