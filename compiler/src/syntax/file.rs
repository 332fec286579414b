//! A file of the project: its text, its tree, and the name under which Python imports it.

use super::{Module, Tokens, parse};
use crate::diagnostics::Diagnostic;
use crate::source::Source;

/// A parsed file.
#[derive(Clone, Debug)]
pub struct File {
    /// Its name as a module: `pkg.engine`; [`File::SCRIPT`] for the script.
    pub name: String,
    /// The package that its relative imports start from; empty outside packages.
    pub package: String,
    /// Its text.
    pub source: Source,
    /// Its tree.
    pub module: Module,
    /// Its tokens.
    pub tokens: Tokens,
}

impl File {
    /// What Python calls the module that is run.
    pub const SCRIPT: &'static str = "__main__";

    /// Parses a file.
    ///
    /// # Errors
    /// One diagnostic when the text is not Python.
    pub fn new(source: Source, name: &str, package: &str) -> Result<Self, Diagnostic> {
        let (module, tokens) = parse(&source)?;
        Ok(Self { name: name.to_owned(), package: package.to_owned(), source, module, tokens })
    }

    /// Parses a module of the project.
    ///
    /// # Errors
    /// One diagnostic when the text is not Python.
    pub fn module(source: Source, name: &str, is_package: bool) -> Result<Self, Diagnostic> {
        let parent = name.rsplit_once('.').map_or("", |(parent, _)| parent);
        Self::new(source, name, if is_package { name } else { parent })
    }

    /// Parses a script. `package`: the package that it is run in, as `python -m package.script` does; else empty.
    ///
    /// # Errors
    /// One diagnostic when the text is not Python.
    pub fn script(source: Source, package: &str) -> Result<Self, Diagnostic> {
        Self::new(source, Self::SCRIPT, package)
    }

    /// What is put before the ids of its loops: nothing for the script, `pkg.engine.` for a module.
    pub fn qualifier(&self) -> String {
        if self.name == Self::SCRIPT { String::new() } else { format!("{}.", self.name) }
    }

    /// The absolute form of an imported name as written: `.loss` in `pkg.engine` is `pkg.loss`. None when there are more
    /// dots than packages.
    pub fn absolute(&self, written: &str) -> Option<String> {
        let rest = written.trim_start_matches('.');
        let dots = written.len() - rest.len();
        if dots == 0 {
            return Some(written.to_owned());
        }
        let mut package = self.package.as_str();
        for _ in 1..dots {
            package = package.rsplit_once('.')?.0;
        }
        match (package, rest) {
            ("", _) => None,
            (_, "") => Some(package.to_owned()),
            _ => Some(format!("{package}.{rest}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::File;
    use crate::source::Source;

    #[test]
    fn relative_names() {
        let file = File::module(Source::new("f", ""), "a.b.c", false).unwrap();
        assert_eq!(file.absolute(".d").as_deref(), Some("a.b.d"));
        assert_eq!(file.absolute("..d.e").as_deref(), Some("a.d.e"));
        assert_eq!(file.absolute("...d"), None);
        assert_eq!(file.absolute("torch.nn").as_deref(), Some("torch.nn"));
        let package = File::module(Source::new("f", ""), "a.b", true).unwrap();
        assert_eq!(package.absolute(".d").as_deref(), Some("a.b.d"));
        assert_eq!(package.absolute(".").as_deref(), Some("a.b"));
    }
}
