"""What the tests of commands share: run a script plainly, recorded, replayed, in a folder of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import warm

CONFIG = os.path.join(tempfile.gettempdir(), f"florc-tests-{os.getuid()}")


class Done(NamedTuple):
    """A finished process; `err` without florc's own lines, which are in `said`."""

    out: str
    err: str
    said: str
    code: int


class Workshop:
    """A folder with scripts, and the commands run in it."""

    def __init__(self, path: Path):
        self.path = path

    def write(self, name: str, text: str) -> Path:
        """Put a file there; the text is dedented."""
        file = self.path / name
        file.write_text(textwrap.dedent(text).lstrip("\n"))
        return file

    def environment(self) -> dict:
        binaries = os.path.dirname(sys.executable)
        known = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
        known.pop("FLORC_DIR", None)
        return known

    def start(self, *command: str, **options: Any) -> subprocess.Popen[str]:
        """Start a command in a process group of its own."""
        return subprocess.Popen(
            command,
            cwd=self.path,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    def _warm(self, words: tuple[str, ...]) -> Done | None:
        """What a child of a process that has imported torch printed (`warm`); None where this has to be a process of its own."""
        text = "\n".join(path.read_text(errors="replace") for path in self.path.glob("*.py"))
        if warm.is_cold(self.path.name) or not warm.is_dear(text) or warm.HASH_SEED in os.environ:
            return None
        try:
            done = warm.run(words, text, self.path, {**self.environment(), warm.HASH_SEED: "1"}, timeout=300)
        except subprocess.TimeoutExpired:  # a plain run with workers of a loader stood still, once in some ten thousand
            if "florc" in words:
                raise
            return None
        return self._told(done.returncode, done.stdout, done.stderr)

    def run(self, *command: str, interrupt_after: str | None = None, kill_after: str | None = None) -> Done:
        """Run a command to its end; optionally send Ctrl-C or SIGKILL once a line with this text was printed."""
        process = self.start(*command)
        try:
            seen = ""
            for text, number in ((interrupt_after, signal.SIGINT), (kill_after, signal.SIGKILL)):
                while text is not None and text not in seen:
                    line = process.stdout.readline()  # type: ignore[union-attr]
                    assert line, f"ended before {text!r}: {seen}"
                    seen += line
                if text is not None:
                    os.kill(process.pid, number)
            out, err = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return self._told(process.returncode, seen + out, err)

    def _told(self, code: int, out: str, err: str) -> Done:
        own = [line for line in err.splitlines(keepends=True) if not line.startswith("florc: ")]
        said = [line for line in err.splitlines(keepends=True) if line.startswith("florc: ")]
        return Done(out, "".join(own), "".join(said), code)

    def plain(self, *words: str, **options: Any) -> Done:
        return not options and self._warm(words) or self.run(sys.executable, "-u", *words, **options)

    def asked(self, text: str, probed: str, prefix: str = "P ") -> tuple[Done, Done, str]:
        """Record `train.py` with `text`, and replay it with `probed`, where added statements print lines that begin with `prefix`.
        What the record and the replay said, and the lines of a plain run. The recorded run has to print what a plain one does."""
        self.write("train.py", text)
        plain = self.plain("train.py")
        recorded = self.florc("record", "--checkpoint", "every", "train.py")
        assert (recorded.out, recorded.code) == (plain.out, plain.code), recorded.err
        self.write("train.py", probed)
        truth = "".join(line for line in self.plain("train.py").out.splitlines(True) if line.startswith(prefix))
        assert truth, "the added statements print nothing"
        return recorded, self.florc("replay", "train.py"), truth

    def written_down(self, text: str, answer: str, *options: str) -> tuple[Done, str]:
        """Record `train.py` with `text`, which writes to the file `truth` what it took from outside, and replay it with `answer`
        in the place of `#PROBE`. What the replay said, and the truth."""
        self.write("train.py", text)
        recorded = self.florc("record", *options, "train.py")
        assert recorded.code == 0, recorded.err
        truth = (self.path / "truth").read_text()
        self.write("train.py", text.replace("#PROBE", answer))
        return self.florc("replay", "train.py"), truth

    def florc(self, *words: str, **options: Any) -> Done:
        return (
            not options
            and self._warm(("-m", "florc", *words))
            or self.run(sys.executable, "-u", "-m", "florc", *words, **options)
        )
