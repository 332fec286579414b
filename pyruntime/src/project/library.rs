//! A file, parsed; one of a library in which loops are followed, as it is compiled.
use std::sync::Arc;

use florc::Source;
use florc::emit::{Emitted, rewritten};
use florc::knowledge::Knowledge;
use florc::syntax::File;
use pyo3::exceptions::PySyntaxError;
use pyo3::prelude::*;

pub(super) fn parse(module: &str, package: &str, path: &str, text: &str) -> PyResult<File> {
    let source = Source::new(path, text);
    File::new(source.clone(), module, package).map_err(|error| PySyntaxError::new_err(error.render(&source)))
}

/// A file of a library, of which some loops are split (`knowledge/followed.toml`).
#[derive(Clone)]
pub(super) struct Library {
    pub file: File,
    /// None where it is compiled as it is installed.
    pub origin: Option<Arc<Origin>>,
}

/// The way back to the text that is installed.
pub(super) struct Origin {
    installed: Source,
    rewritten: Emitted,
}

impl Library {
    /// Parses a file of a library. Raises SyntaxError when it is not Python.
    pub fn parse(module: &str, package: &str, path: &str, text: &str) -> PyResult<Self> {
        let installed = Source::new(path, text);
        let known = Knowledge::shipped().followed(module);
        let Some(rewritten) = known.and_then(|known| rewritten(&installed, known)) else {
            return Ok(Self { file: parse(module, package, path, text)?, origin: None });
        };
        let file = parse(module, package, path, &rewritten.text)?;
        Ok(Self { file, origin: Some(Arc::new(Origin { installed, rewritten })) })
    }

    /// The text that is installed.
    pub fn text(&self) -> &str {
        self.origin.as_ref().map_or(&self.file.source.text, |origin| &origin.installed.text)
    }
}

impl Origin {
    /// Maps (line, column) pairs of the text that is compiled to the one that is installed.
    pub fn positions(&self) -> impl Fn((usize, usize)) -> (usize, usize) + '_ {
        self.rewritten.positions(&self.installed)
    }
}
