//! The project around a script: where its imports are on disk.

use super::read::read_source;
use crate::diagnostics::Diagnostic;
use crate::project::{Codebase, Found, follow};
use crate::source::Source;
use crate::syntax::File;
use std::path::{Path, PathBuf};

/// A script and the files of its project that it imports, at any distance.
///
/// Modules are looked for where Python would: beside the script, then in the folders of `PYTHONPATH`; those of the script's
/// own package where `python -m` finds it. Installed libraries are not part of a project.
///
/// # Errors
/// One diagnostic when the script is not Python; a module that is not is reported in [`Codebase::unfollowed`].
pub fn load(source: &Source, script: &Path) -> Result<Codebase, Diagnostic> {
    load_from(source, script, script.parent().unwrap_or(Path::new("")))
}

/// As [`load`], with another folder than the script's to look in first: for `python -m` it is the current one.
///
/// # Errors
/// As [`load`].
pub fn load_from(source: &Source, script: &Path, first: &Path) -> Result<Codebase, Diagnostic> {
    if script == Path::new("-") {
        return Ok(Codebase::single(File::script(source.clone(), "")?));
    }
    let (package, root) = package_of(script);
    let file = File::script(source.clone(), &package)?;
    let own = package.split('.').next().filter(|name| !name.is_empty());
    let mut folders = vec![first.to_owned()];
    folders.extend(std::env::var_os("PYTHONPATH").iter().flat_map(std::env::split_paths));
    Ok(follow(vec![file], &mut |dotted| match find(&folders, dotted) {
        Found::Foreign if dotted.split('.').next() == own => find(std::slice::from_ref(&root), dotted),
        found => found,
    }))
}

/// The package that the script's relative imports name, and the folder that it is in. What tells where a package begins
/// are its `__init__.py` files; without any, it is the script's own folder.
fn package_of(script: &Path) -> (String, PathBuf) {
    let whole = script.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
    let inside = whole.ancestors().take_while(|folder| folder.join("__init__.py").is_file()).count().max(1);
    let mut names: Vec<_> = whole.ancestors().take(inside).filter_map(Path::file_name).collect();
    names.reverse();
    let package = names.iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join(".");
    // as it was typed, where that has so many folders
    let root = script.ancestors().nth(inside + 1).or_else(|| whole.ancestors().nth(inside));
    (package, root.unwrap_or(&whole).to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_imports_name_the_package_around_the_script() {
        let root = std::env::temp_dir().join(format!("florc-package-{}", std::process::id()));
        let inner = root.join("out/pkg/sub");
        std::fs::create_dir_all(&inner).unwrap();
        for (file, text) in [
            ("out/pkg/__init__.py", ""),
            ("out/pkg/sub/__init__.py", ""),
            ("out/pkg/engine.py", "x = 1\n"),
            ("out/pkg/sub/train.py", "from ..engine import x\n"),
            ("out/loss.py", "y = 1\n"),
            ("out/train.py", "from .loss import y\nimport elsewhere\n"),
        ] {
            std::fs::write(root.join(file), text).unwrap();
        }
        let names = |script: &str| {
            let path = root.join(script);
            let codebase = load(&read_source(&path).unwrap(), &path).unwrap();
            codebase.files.iter().map(|file| file.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names("out/pkg/sub/train.py"), [File::SCRIPT, "pkg", "pkg.engine"]);
        // without an `__init__.py`: the script's own folder
        assert_eq!(names("out/train.py"), [File::SCRIPT, "out.loss"]);
        std::fs::remove_dir_all(&root).unwrap();
    }
}
