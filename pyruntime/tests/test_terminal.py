"""What florc does on a terminal only: a line of progress, colors; and what it completes in a shell."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import termios
import time

import pytest
from workshop import Workshop

SCRIPT = """
    import time
    class Model:
        total = 0
        def step(self):
            self.total += 1
            time.sleep(0.04)
    model = Model()
    for epoch in range(6):
        for step in range(10):
            model.step()
        print("total", model.total)
"""
PROBED = SCRIPT.replace("            time.sleep", '            print("seen", self.total)\n            time.sleep')
ANSWERS = [f"seen {number}" for number in range(1, 61)]


def _on_terminal(workshop: Workshop, *words: str, variables: dict[str, str] | None = None, columns: int = 80) -> str:
    """What a terminal gets that is standard output and standard error of a command."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**workshop.environment(), "TERM": "xterm", **(variables or {})}
    environment.pop("NO_COLOR", None) if not variables else None
    process = subprocess.Popen(
        [sys.executable, "-m", "florc", *words],
        cwd=workshop.path,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    data, deadline = b"", time.monotonic() + 120
    try:
        while time.monotonic() < deadline:
            if select.select([leader], [], [], 1)[0]:
                try:
                    part = os.read(leader, 1 << 16)
                except OSError:  # nobody holds the other end any more
                    break
                if not part:
                    break
                data += part
        assert process.wait(timeout=30) == 0, data
    finally:
        process.kill()
        process.wait()
        os.close(leader)
    return data.decode().replace("\r\n", "\n")


def _screen(text: str) -> list[str]:
    """The lines that are left on the screen: `\\r` goes to the beginning of one, `ESC [ K` clears what follows."""
    lines = []
    for line in text.split("\n"):
        shown, at = "", 0
        for part in re.split(r"(\r|\x1b\[K)", line):
            if part == "\r":
                at = 0
            elif part == "\x1b[K":
                shown = shown[:at]
            else:
                shown, at = shown[:at] + part + shown[at + len(part) :], at + len(part)
        lines.append(shown)
    return lines


@pytest.fixture
def recorded(workshop: Workshop) -> Workshop:
    workshop.write("train.py", SCRIPT)
    assert workshop.florc("record", "--checkpoint", "every", "train.py").code == 0
    workshop.write("train.py", PROBED)
    return workshop


def test_a_replay_shows_where_it_is_and_leaves_nothing_of_that(recorded: Workshop) -> None:
    text = _on_terminal(recorded, "replay", "train.py")
    steps = re.findall(r"\rflorc: epoch=(\d) \(to 5\), (\d) run again, [\d.]+ s, [\d.]+ s left", text)
    assert steps and all(int(epoch) == int(ran) for epoch, ran in steps), text
    lines = _screen(text)
    assert [line for line in lines if line.startswith("seen")] == ANSWERS
    assert not [line for line in lines if "left" in line], lines
    assert any(line.startswith("\x1b[32mflorc: exact:") for line in lines), lines
    assert "florc: as a table: florc logs train.py self.total --pivot" in lines, lines


def test_workers_show_where_each_of_them_is(recorded: Workshop) -> None:
    text = _on_terminal(recorded, "replay", "--workers", "2", "train.py", columns=200)
    assert re.search(r"\rflorc: worker 1: epoch=\d \(to \d\), [\d.]+ s left; worker 2: epoch=\d", text), text
    assert [line for line in _screen(text) if line.startswith("seen")] == ANSWERS


def test_a_narrow_terminal_does_not_scroll(recorded: Workshop) -> None:
    text = _on_terminal(recorded, "replay", "train.py", columns=24)
    shown = re.findall(r"\r(florc: epoch[^\x1b]*)\x1b", text)
    assert shown and all(len(line) <= 23 for line in shown), shown


@pytest.mark.parametrize(
    ("words", "variables"),
    [((), {"NO_COLOR": "1"}), (("--color", "never"), {}), (("--quiet",), {"NO_COLOR": "1"}), ((), {"TERM": "dumb"})],
)
def test_colors_and_lines_are_left_out_where_they_are_not_wanted(
    recorded: Workshop, words: tuple[str, ...], variables: dict[str, str]
) -> None:
    text = _on_terminal(recorded, "replay", *words, "train.py", variables=variables)
    assert not re.search(r"\x1b\[\d+m", text), text
    if "--quiet" in words or "TERM" in variables:
        assert "\x1b" not in text and "\r" not in text, text


def test_a_pipe_gets_plain_text(recorded: Workshop) -> None:
    done = recorded.florc("replay", "train.py")
    assert "\x1b" not in done.said + done.err + done.out and "\r" not in done.said + done.err
    colored = recorded.florc("replay", "--color", "always", "train.py")
    assert "\x1b[32m" in colored.err + colored.said and colored.out == done.out


# -- completion in shells ----------------------------------------------------------------------------------------------


def _completed(workshop: Workshop, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    environment = {
        **workshop.environment(),
        "_FLORC_COMPLETE": "bash",
        "_CLAP_COMPLETE_INDEX": str(len(words)),
        "_CLAP_IFS": "\n",
    }
    command = [sys.executable, "-m", "florc", "--", "florc", *words]
    done = subprocess.run(command, cwd=workshop.path, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split("\n")


def test_a_shell_completes_what_the_store_has(recorded: Workshop) -> None:
    run = recorded.florc("runs", "--json").out.split('"id": "')[1].split('"')[0]
    assert _completed(recorded, "sh") == ["show"]
    assert {run, "latest"} <= set(_completed(recorded, "show", ""))
    assert _completed(recorded, "show", run[:10]) == [run]
    assert {"train.py", run} <= set(_completed(recorded, "replay", ""))
    assert _completed(recorded, "logs", "mo") == ["model.total"]
    assert set(_completed(recorded, "replay", "--step-into", "")) >= {"all", "L1", "L2"}
    assert _completed(recorded, "replay", "--around", "epoch=3") == ["epoch=3"]
    assert _completed(recorded, "plot", "model.total", "--x", "ep") == ["epoch"]
    lines = _completed(recorded, "ask", "train.py", "--at", "")
    assert [line for line in lines if line.isdigit()] == [str(n) for n, line in enumerate(_source(recorded), 1) if line.strip()]
    assert "model.total" in _completed(recorded, "ask", "train.py", "--at", "9", "model.t")
    assert {"overhead", "model.total"} <= set(_completed(recorded, "runs", "--columns", ""))
    assert _completed(recorded, "replay", "--color", "al") == ["always"]
    assert "train.py" in _completed(recorded, "record", "tr")


def _source(workshop: Workshop) -> list[str]:
    return (workshop.path / "train.py").read_text().splitlines()


def test_a_shell_without_a_store_completes_commands_and_files(workshop: Workshop) -> None:
    assert _completed(workshop, "show", "") != ["latest"] and "show" in _completed(workshop, "")
    (workshop.path / ".florc").write_text("no store")
    assert "latest" not in _completed(workshop, "show", "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_what_bash_is_given_completes(recorded: Workshop) -> None:
    script = """
        source <(florc completion bash)
        COMP_WORDS=(florc logs mod); COMP_CWORD=2; COMP_TYPE=9
        _clap_complete_florc florc mod logs
        echo "${COMPREPLY[*]}"
    """
    (recorded.path / "florc").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m florc "$@"\n')
    (recorded.path / "florc").chmod(0o755)
    environment = {**recorded.environment(), "PATH": f"{recorded.path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", script], cwd=recorded.path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "model.total", done


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_is_given_what_it_runs(workshop: Workshop, shell: str) -> None:
    done = workshop.florc("completion", shell)
    assert done.code == 0 and "_FLORC_COMPLETE" in done.out
    if shutil.which(shell):
        subprocess.run([shell, "-n", "-c", done.out], check=True, capture_output=True)
