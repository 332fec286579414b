//! The first line of a class: since CPython 3.13 its body keeps it as a number (`__firstlineno__`), which `inspect` reads.

/// The names that such a body begins with.
const NAMES: [&str; 4] = ["__name__", "__module__", "__qualname__", "__firstlineno__"];

/// Whether a code object with these names is the body of a class that keeps its first line.
pub fn is_kept(names: &[String]) -> bool {
    names.get(..NAMES.len()).is_some_and(|begin| begin == NAMES)
}

/// Where in the code of such a body the index of that constant is; `None` for code in another form.
///
/// The body begins `__module__ = __name__; __qualname__ = …; __firstlineno__ = …`. Each is a load and a store, and each of
/// these is two bytes: an operation, and the index of a name or a constant.
pub fn place(code: &[u8]) -> Option<usize> {
    let statements = code.windows(12).step_by(2).position(|bytes| match *bytes {
        [_, 0, store, 1, load, _, second_store, 2, second_load, _, third_store, 3] => {
            (second_load, second_store, third_store) == (load, store, store)
        }
        _ => false,
    })?;
    Some(2 * statements + 9)
}

#[cfg(test)]
mod tests {
    use super::place;

    const RESUME: [u8; 2] = [149, 0];
    const BODY: [u8; 12] = [92, 0, 116, 1, 83, 0, 116, 2, 83, 1, 116, 3];

    #[test]
    fn the_constant_is_found_wherever_the_body_begins() {
        assert_eq!(place(&BODY), Some(9));
        assert_eq!(place(&[RESUME.as_slice(), &BODY].concat()), Some(11));
    }

    #[test]
    fn another_form_is_refused() {
        let mut small_number = BODY;
        small_number[8] = 94;
        assert_eq!(place(&small_number), None);
        assert_eq!(place(&BODY[..10]), None);
    }
}
