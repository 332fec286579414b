"""The names in the compiler's knowledge of libraries are names of these libraries: a typing error would go unseen else."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "compiler" / "src" / "knowledge"
# Not in every version that people use, so not in the one installed here.
OF_OTHER_VERSIONS = {
    "copy.replace",
    "heapq.heapify_max",
    "heapq.heappush_max",
    "heapq.heappop_max",
    "heapq.heapreplace_max",
    "heapq.heappushpop_max",
    "numpy.unstack",
    "torch.nn.utils.clip_grad_norm",
    "typing_extensions.*",
    "msvcrt.*",
    "torch.nn.Buffer",
    "torch.nn.RMSNorm",
}
# Importing them needs a further library.
THAT_NEED_MORE = {"builtins.display", "torch.utils.tensorboard.*", "tqdm.rich.*", "tqdm.rich.tqdm"}
# Of NumPy 1.
OLD_METHODS = {"ptp"}


def names() -> Iterator[tuple[str, str]]:
    """Every file with every dotted name of a function, class or maker in it."""
    tomllib = pytest.importorskip("tomllib")
    for file in sorted(FOLDER.glob("*.toml")):
        tables: dict[str, dict[str, list[str]]] = tomllib.loads(file.read_text(encoding="utf-8"))
        for listed in tables.get("functions", {}).values():
            yield from ((file.name, name) for name in listed)
        yield from ((file.name, name) for name in tables.get("classes", {}))
        for made, makers in tables.get("makers", {}).items():
            yield from ((file.name, name) for name in [made, *makers])


def is_installed(name: str) -> bool:
    """Whether the library that a name belongs to is here; the standard library always is."""
    root = name.split(".")[0]
    return root in sys.stdlib_module_names or importlib.util.find_spec(root) is not None


def exists(name: str) -> bool:
    """Whether a dotted name leads somewhere, through modules and attributes."""
    parts = name.removesuffix(".*").split(".")
    for count in range(len(parts), 0, -1):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        try:
            for attribute in parts[count:]:
                found = getattr(found, attribute)
        except AttributeError:
            continue
        return True
    return False


def test_every_name_of_an_installed_library_exists() -> None:
    left_out = OF_OTHER_VERSIONS | THAT_NEED_MORE
    checked = [(file, name) for file, name in names() if name not in left_out and is_installed(name)]
    assert len(checked) > 800
    assert {name.split(".")[0] for _, name in checked} >= {"builtins", "random", "itertools", "numpy", "torch"}
    missing = sorted({f"{file}: {name}" for file, name in checked if not exists(name)})
    assert not missing, "\n".join(missing)


def test_methods_of_tensors_and_arrays_that_are_said_to_be_pure_exist_somewhere() -> None:
    """A method that no library has would be listed in vain."""
    numpy, torch = pytest.importorskip("numpy"), pytest.importorskip("torch")
    tomllib = pytest.importorskip("tomllib")
    methods = tomllib.loads((FOLDER / "methods.toml").read_text(encoding="utf-8"))["methods"]
    text = (FOLDER / "methods.toml").read_text(encoding="utf-8")
    tensors = text.split("# tensors and arrays")[1].split("# text")[0]
    known = set(dir(torch.Tensor)) | set(dir(numpy.ndarray)) | set(dir(torch.nn.functional))
    listed = {name for name in methods["pure"] if f'"{name}"' in tensors}
    assert len(listed) > 100
    assert not listed - known - OLD_METHODS, sorted(listed - known)
