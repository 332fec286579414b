//! The project around a script: where its imports are on disk.

use super::compile::read_source;
use crate::calls::{Codebase, Found, follow};
use crate::diagnostics::Diagnostic;
use crate::source::Source;
use crate::syntax::File;
use std::path::{Path, PathBuf};

/// A script and the files of its project that it imports, at any distance.
///
/// Modules are looked for where Python would: beside the script, then in the folders of `PYTHONPATH`. Installed libraries
/// are not part of a project.
///
/// # Errors
/// One diagnostic when the script is not Python; a module that is not is reported in [`Codebase::unfollowed`].
pub fn load(source: &Source, script: &Path) -> Result<Codebase, Diagnostic> {
    let file = File::script(source.clone(), "")?;
    if script == Path::new("-") {
        return Ok(Codebase::single(file));
    }
    let beside = script.parent().map_or_else(PathBuf::new, Path::to_owned);
    let mut folders = vec![beside];
    folders.extend(std::env::var_os("PYTHONPATH").iter().flat_map(std::env::split_paths));
    Ok(follow(vec![file], &mut |dotted| find(&folders, dotted)))
}

fn find(folders: &[PathBuf], dotted: &str) -> Found {
    for folder in folders {
        let base = dotted.split('.').fold(folder.clone(), |path, part| path.join(part));
        let package = base.join("__init__.py");
        if package.is_file() {
            return found(&package, true);
        }
        let mut module = base.into_os_string();
        module.push(".py");
        let module = PathBuf::from(module);
        if module.is_file() && !is_installed(&module) {
            return found(&module, false);
        }
    }
    Found::Foreign
}

fn found(path: &Path, is_package: bool) -> Found {
    if is_installed(path) {
        return Found::Foreign;
    }
    match read_source(path) {
        Ok(source) => Found::File { source, is_package },
        Err(message) => Found::Unreadable(message.trim_end().to_owned()),
    }
}

/// Whether a file is a library's.
fn is_installed(path: &Path) -> bool {
    path.components().any(|part| matches!(part.as_os_str().to_str(), Some("site-packages" | "dist-packages")))
}
