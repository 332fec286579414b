"""Modules that compile the user's files themselves, past the finders of imports: `runpy.run_path`, and pytest, which changes the
assertions of test files. What they run is instrumented as what is imported is."""

from __future__ import annotations

import _frozen_importlib_external as machinery
import os

from . import positions
from .territory import PYTEST, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, ModuleType
    from typing import Any

    from .territory import Compile, Territory


class Loader(machinery.SourceFileLoader):
    """Loads such a module, and changes it."""

    def __init__(self, name: str, path: str, territory: Territory, compile_text: Compile):
        super().__init__(name, path)
        self._change = Change(territory, compile_text)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, then change it."""
        super().exec_module(module)
        self._change.of(self.name, vars(module))


class Change:
    """Changes in such a module what compiles files."""

    def __init__(self, territory: Territory, compile_text: Compile):
        self._territory, self._compile = territory, compile_text

    def of(self, name: str, names: dict[str, Any]) -> None:
        """`names`: those of the module."""
        if name == "runpy":
            self._in_runpy(names)
        elif name == PYTEST:
            self._in_pytest(names)

    def _in_runpy(self, names: Any) -> None:
        plainly = names.get("_get_code_from_file")
        if plainly is None:
            return

        def of_file(*asked: Any) -> Any:
            found = plainly(*asked)  # it says what is wrong with a file
            name = asked[-1]
            if not self._is_users(name):
                return found
            code = self._compile(_text(name), name, os.path.basename(name)[:-3])
            return (code, *found[1:]) if type(found) is tuple else code

        names["_get_code_from_file"] = of_file

    def _in_pytest(self, names: Any) -> None:
        """Pytest keeps what it compiled beside the file, and runs that with `exec`: it keeps what it would keep without florc,
        and what runs is compiled here."""
        hook, rewrite = names.get("AssertionRewritingHook"), names.get("rewrite_asserts")
        if hook is None or rewrite is None:
            return
        plainly, under_way = hook.exec_module, []

        def exec_module(finder: Any, module: ModuleType) -> None:
            under_way.append((finder.config, module.__name__))
            try:
                plainly(finder, module)
            finally:
                under_way.pop()

        def execute(code: CodeType, namespace: dict[str, Any]) -> None:
            name = code.co_filename
            if under_way and self._is_users(name):
                config, module = under_way[-1]
                text = _text(name)
                positions.rewritten[name] = lambda tree: rewrite(tree, text.encode(), name, config)
                code = self._compile(text, name, module)
            exec(code, namespace)

        hook.exec_module, names["exec"] = exec_module, execute

    def _is_users(self, name: Any) -> bool:
        # a relative name is what a traceback shows, and runs and positions know absolute ones: such a file runs as it is
        return type(name) is str and os.path.isabs(name) and name.endswith(".py") and self._territory.owns(name)


def _text(path: str) -> str:
    with open(path, "rb") as file:
        return decode(file.read())
