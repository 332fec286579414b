//! `florc`: the compiler half.
