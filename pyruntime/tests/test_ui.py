"""The server of `florc ui`: whom it answers, what it says, how it asks, how it ends."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import florc
import pytest
from page_of_runs import LAST, QUESTION, SCRIPT, Page, record, said, served, until, values
from workshop import Workshop

STATIC = Path(florc.__file__).parent / "ui" / "static"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    found = Workshop(tmp_path_factory.mktemp("ui"))
    record(found)
    return found


@pytest.fixture(scope="module")
def page(shop: Workshop) -> Iterator[Page]:
    with served(shop) as found:
        yield found


# -- whom it answers ---------------------------------------------------------------------------------------------------


def test_the_page_and_all_that_it_refers_to_is_served(page: Page) -> None:
    start = page.get("")
    assert start.status == 200 and start.headers["Content-Type"].startswith("text/html")
    for path in STATIC.rglob("*"):
        if path.is_file():
            assert page.get(str(path.relative_to(STATIC))).text == path.read_text(), path
    referred = re.findall(r'(?:href|src)="([^"#]+)"', start.text)
    referred += [name for path in STATIC.glob("*.js") for name in re.findall(r'from "\./([^"]+)"', path.read_text())]
    assert {"app.js", "style.css", "vendor/uplot/uPlot.esm.js"} <= set(referred)
    assert all(page.get(name).status == 200 for name in referred)
    assert (STATIC / "vendor" / "uplot" / "LICENSE").read_text().startswith("The MIT License")


def test_the_page_makes_no_html_of_texts_and_refers_to_no_other_host() -> None:
    for path in [*STATIC.glob("*.js"), STATIC / "index.html", STATIC / "style.css"]:
        text = path.read_text()
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", text), path
        assert not re.search(r"(?:https?:)?//(?!www\.w3\.org/(?:2000/svg|1999/xhtml))\w+\.\w+", text), path
        assert len(text.splitlines()) < 300, path


@pytest.mark.parametrize("path", ["", "app.js", "api/runs", "api/ask", "vendor/uplot/LICENSE"])
@pytest.mark.parametrize("token", ["", "x", "{token}x", "{half}"])
def test_without_the_token_nothing_is_answered(page: Page, path: str, token: str) -> None:
    known = page.url.rstrip("/").rpartition("/")[2]
    url = f"{page.root}/{token.format(token=known, half=known[:-1])}/"
    for method, data in (("GET", None), ("POST", b"{}")):
        found = page.get(path, url, method, data, Content_Type="application/json")
        assert (found.status, list(found.json)) == (403, ["error"]), found
        assert known not in found.text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1.evil.example:{port}"]
)
def test_under_another_name_nothing_is_answered(page: Page, host: str) -> None:
    port = page.root.rpartition(":")[2]
    assert page.get("api/runs", Host=host.format(port=port)).status == 403
    assert page.get("api/runs", Host=f"localhost:{port}").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE"])
def test_other_methods_are_refused(page: Page, method: str) -> None:
    assert page.get("api/runs", method=method).status == 405


@pytest.mark.parametrize(
    "path",
    [
        "../facts.py",
        "..%2ffacts.py",
        "%2e%2e/facts.py",
        "vendor/../../server.py",
        "/etc/passwd",
        "//etc/passwd",
        "vendor",
        "vendor/",
        "app.js%00",
        "index.html/",
        "api/",
        "api/history",
    ],
)
def test_nothing_beside_the_page_is_served(page: Page, path: str) -> None:
    assert page.get(path).status == 404


def test_only_the_page_asks(page: Page) -> None:
    question = json.dumps({"run": page.only_run(), "line": LAST, "expression": "1"}).encode()
    asked = {"method": "POST", "data": question}
    assert page.get("api/forecast", **asked, Content_Type="text/plain").status == 415
    assert page.get("api/forecast", **asked, Content_Type="application/json", Origin="http://evil.example").status == 403
    assert page.get("api/forecast", **asked, Content_Type="application/json", Origin="null").status == 403
    assert page.get("api/forecast", method="POST", data=b"[", Content_Type="application/json").status == 400
    assert page.get("api/forecast", method="POST", data=b"[]", Content_Type="application/json").status == 400
    assert page.get("api/forecast", method="POST", data=b" " * 70_000, Content_Type="application/json").status == 413
    assert page.get("api/runs", method="POST", data=b"{}", Content_Type="application/json").status == 404
    assert page.get("api/ask").status == 404


def test_what_a_browser_must_keep_to_is_said_with_each_answer(page: Page) -> None:
    for path in ("", "app.js", "api/runs", "nothing"):
        headers = page.get(path).headers
        assert headers["Content-Security-Policy"].startswith("default-src 'self';")
        assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "no-referrer")
        assert not [name for name in headers if name.lower().startswith("access-control")]


def test_only_the_loopback_interface_is_listened_to(page: Page) -> None:
    port = int(page.root.rpartition(":")[2])
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    listening = {words[1] for words in lines if words[3] == "0A" and int(words[1].rpartition(":")[2], 16) == port}
    assert listening == {f"0100007F:{port:04X}"}


# -- what it says ------------------------------------------------------------------------------------------------------


def test_it_says_what_the_commands_print(page: Page, shop: Workshop) -> None:
    run = page.only_run()
    assert page.get(f"api/show?run={run}").json == json.loads(shop.florc("show", run, "--json").out)
    printed = shop.florc("logs", run, "--format", "jsonl").out.splitlines()
    assert page.get(f"api/logs?run={run}").json == [json.loads(line) for line in printed] and len(printed) >= 12
    (listed,) = page.get("api/runs").json
    told = json.loads(shop.florc("runs", "--json").out)
    told["report"].pop("imports")
    assert listed == {name: told[name] for name in listed}


def test_a_run_that_is_not_there_is_refused_in_the_words_of_the_commands(page: Page, shop: Workshop) -> None:
    found = page.get("api/show?run=nothing")
    assert found.status == 404 and found.json["error"] + "\n" == shop.florc("show", "nothing").said.removeprefix("florc: ")


def test_curves_and_times_are_those_of_the_run(page: Page) -> None:
    run = page.only_run()
    panels = {panel["name"]: panel for panel in page.get(f"api/curves?run={run}").json["panels"]}
    recorded = [row["value"] for row in page.get(f"api/logs?run={run}").json if row["name"] == "loss"]
    (curve,) = panels["loss"]["curves"]
    assert (panels["loss"]["axis"], curve["x"], curve["y"]) == ("epoch", [0, 1, 2, 3, 4, 5], recorded)
    lanes = {lane["loop"]: lane for lane in page.get(f"api/timeline?run={run}").json["lanes"]}
    assert [bar["label"] for bar in lanes["L1"]["bars"]] == ["0", "1", "2", "3", "4", "5"]
    assert [bar["keys"] for bar in lanes["L2"]["bars"]] == [[f"L1={epoch}/L2#0"] for epoch in range(6)]
    assert [found["key"] for found in lanes["L2"]["checkpoints"]] == [f"L1={epoch}/L2#0" for epoch in range(6)]
    for bar in lanes["L2"]["bars"]:
        around = lanes["L1"]["bars"][int(bar["keys"][0][3])]
        assert around["begin"] <= bar["begin"] <= bar["end"] <= around["end"] + 0.01
    (file,) = page.get(f"api/source?run={run}").json["files"]
    assert (file["lines"], file["state"]) == (SCRIPT.splitlines(), "unchanged")
    assert [(loop["loop"], loop["line"], loop["checkpoints"]) for loop in file["loops"]] == [("L1", 14, 0), ("L2", 15, 6)]


# -- how it asks -------------------------------------------------------------------------------------------------------


def test_an_answer_is_what_the_statement_would_have_printed(page: Page, shop: Workshop) -> None:
    run = page.only_run()
    plain = shop.run(sys.executable, "-c", SCRIPT + f"    print('P', {QUESTION})\n")
    truth = [float(line.split()[1]) for line in plain.out.splitlines() if line.startswith("P ")]
    events = page.ask(run=run, line=LAST, expression=QUESTION)
    assert values(events, QUESTION) == truth and len(truth) == 6
    (end,) = [event["end"] for event in events if "end" in event]
    blocks = {event["block"]: event["restored"] for event in events if "block" in event}
    assert (end["verdict"], end["skipped"], end["first_difference"]) == ("exact", 6, None)
    assert blocks == dict.fromkeys(end["restored"], True) and len(blocks) == 6
    assert "exact: 6 recorded lines reappeared unchanged" in said(events) and events[-1]["done"] == 0
    panels = {panel["name"]: panel for panel in page.get(f"api/curves?run={run}").json["panels"]}
    assert [curve["y"] for curve in panels[QUESTION]["curves"]] == [truth]


def test_each_question_is_one_of_its_own_in_a_process_that_has_the_imports(page: Page) -> None:
    run = page.only_run()
    page.ask(run=run, line=LAST, expression="epoch * 2")
    again = page.ask(run=run, line=16, expression="step", iterations="1:3")
    assert not any("ready" in event for event in again)  # that process was there
    assert {row["name"] for event in again for row in event.get("values", ())} == {"step"}
    assert values(again, "step") == list(range(50)) * 2
    ran = [event["block"] for event in again if event.get("restored") is False]
    assert ran == ["L1=1/L2#0", "L1=2/L2#0"], again


def test_a_forecast_is_that_of_a_dry_run(page: Page, shop: Workshop) -> None:
    run = page.only_run()
    found = page.post("api/forecast", {"run": run, "line": LAST, "expression": QUESTION}).json
    asked = shop.florc("ask", run, "--at", str(LAST), QUESTION, "--dry-run", "--json")
    assert found == json.loads(asked.out)
    (block,) = found["blocks"]
    assert block["what"].startswith("restored from 6 checkpoints") and found["recorded_seconds"] > 0


@pytest.mark.parametrize(
    ("question", "words", "why"),
    [
        ({"line": 99, "expression": "epoch"}, ["--at", "99", "epoch"], "[F107]"),
        ({"line": LAST, "expression": "model.step()"}, ["--at", str(LAST), "model.step()"], "a question only looks"),
        ({"line": LAST, "expression": "epoch +"}, ["--at", str(LAST), "epoch +"], "[F107]"),
        ({"kind": "watch", "expression": "epoch"}, ["--watch", "epoch"], "[F107]"),
        ({"kind": "after-loop", "variable": "x", "expression": "1"}, ["--after-loop", "x", "1"], "[F107]"),
        ({"line": LAST, "expression": "epoch", "iterations": "90"}, ["--at", str(LAST), "epoch", "--iterations=90"], "[F104]"),
        ({"line": 1, "file": "other.py", "expression": "epoch"}, ["--at", "other.py:1", "epoch"], "[F101]"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_the_words_of_florc(page: Page, shop: Workshop, question, words, why) -> None:
    run = page.only_run()
    told = shop.florc("ask", run, *words)
    assert told.code == 2 and why in told.said + told.err, told
    events = page.ask(run=run, **question)
    assert [line for line in said(events).splitlines() if "[F" in line] == [
        line for line in told.said.splitlines() if "[F" in line
    ]
    assert events[-1]["done"] == 2 and not any("end" in event for event in events)
    assert why in page.post("api/forecast", {"run": run, **question}).json["error"] or "iterations" in question


@pytest.mark.parametrize(
    "question", [{}, {"expression": 3}, {"expression": "1"}, {"line": "1", "expression": "1"}, {"line": 1, "expression": "\0\n"}]
)
def test_what_is_no_question_runs_nothing(page: Page, question) -> None:
    events = page.ask(run=page.only_run(), **question)
    assert events[-1]["done"] == 2 and "missing" in said(events)


def test_a_file_that_changed_or_is_gone_is_asked_as_it_was(workshop: Workshop) -> None:
    record(workshop)
    script = workshop.path / "train.py"
    script.write_text("# another line\n" + SCRIPT.replace("range(50)", "range(40)") + "    print('PROBE', epoch)\n")
    with served(workshop) as page:
        run = page.only_run()
        (file,) = page.get(f"api/source?run={run}").json["files"]
        assert (file["lines"], file["state"], file["removed"]) == (SCRIPT.splitlines(), "changed", [15])
        assert {"behind": LAST, "texts": ["    print('PROBE', epoch)"]} in file["added"]
        events = page.ask(run=run, line=LAST, expression="step")
        assert values(events, "step") == [49] * 6 and "exact: 6 recorded" in said(events), events
        script.write_text("this is no Python (\n")
        assert values(page.ask(run=run, line=LAST, expression="step + 1"), "step + 1") == [50] * 6
        script.unlink()
        (file,) = page.get(f"api/source?run={run}").json["files"]
        assert (file["lines"], file["state"]) == (SCRIPT.splitlines(), "gone")
        refused = page.ask(run=run, line=LAST, expression="step")
        assert re.search(r"train\.py.*\[F\d+\]", said(refused)) and refused[-1]["done"] == 2, refused


def test_the_first_difference_of_a_replay_has_its_place(workshop: Workshop) -> None:
    record(workshop)
    (workshop.path / "train.py").write_text(SCRIPT.replace("    for step", "    random.random()\n    for step"))
    with served(workshop) as page:
        run = page.only_run()
        events = page.ask(run=run, present=True)
        (end,) = [event["end"] for event in events if "end" in event]
        first = end["first_difference"]
        assert (end["verdict"], first["text"]) == ("anomalous", end["anomalies"][0]), end
        assert events[-1]["done"] == 1


def test_a_line_that_was_printed_otherwise_is_found_in_the_source(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", "hello")
    record(workshop, "import os\nfor epoch in range(3):\n    print('epoch', epoch)\nprint(os.environ.get('GREETING'))\n")
    monkeypatch.setenv("GREETING", "good bye")
    with served(workshop) as page:
        events = page.ask(run=page.only_run(), line=3, expression="-epoch")
        assert values(events, "-epoch") == [0, -1, -2]
        (end,) = [event["end"] for event in events if "end" in event]
        first = end["first_difference"]
        assert (end["verdict"], os.path.basename(first["file"]), first["line"]) == ("anomalous", "train.py", 4)
        assert "printed 'good bye' instead of 'hello'" in first["text"] and events[-1]["done"] == 1


def test_what_is_no_finite_number_is_told_as_text(workshop: Workshop) -> None:
    record(
        workshop,
        "for epoch in range(3):\n    print('loss', [1.5, float('nan'), float('inf')][epoch])\n    print('bad', float('nan'))\n",
    )
    with served(workshop) as page:
        run = page.only_run()
        events = page.ask(run=run, line=2, expression="float('nan')")
        assert values(events, "float('nan')") == ["nan"] * 3
        assert "NaN" not in page.get(f"api/logs?run={run}").text
        found = page.get(f"api/curves?run={run}")
        panel, memory = found.json["panels"]
        assert memory["name"] == "memory, MB"
        assert (panel["name"], panel["not_drawn"], panel["curves"][0]["y"]) == ("loss", 2, [1.5]), found
        assert {text["name"]: text["rows"][0]["value"] for text in found.json["texts"]} == {"bad": "nan", "float('nan')": "nan"}


@pytest.mark.parametrize("question", [{"kind": "after-loop", "variable": "epoch"}, {"kind": "inside", "line": 14}])
def test_loops_are_asked_behind_them_and_as_their_iterations_begin(page: Page, question) -> None:
    events = page.ask(run=page.only_run(), expression="epoch + 0", **question)
    assert values(events, "epoch + 0") == ([5] if "variable" in question else list(range(6))), events


# -- how it ends -------------------------------------------------------------------------------------------------------

ENDLESS = "sum(1 for _ in range(10**10))"
SLOW = "import time\nfor epoch in range(400):\n    time.sleep(0.05)\n    print('epoch', epoch)\n"


def _children(process: int) -> list[int]:
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False).stdout
    return [child for pid in map(int, found.split()) for child in (pid, *_children(pid))]


def _lives(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


@pytest.fixture
def slow(workshop: Workshop) -> Workshop:
    record(workshop, SLOW.replace("400", "3"))
    return workshop


def _ask_slowly(page: Page) -> tuple[threading.Thread, list[int], list]:
    """A question whose expression takes long, once its replay runs: the thread that asks, and the processes."""
    question = {"run": page.only_run(), "line": 4, "expression": ENDLESS}
    events: list = []

    def ask() -> None:
        try:
            events.extend(page.ask(**question))
        except (OSError, ValueError, http.client.HTTPException):
            events.append({"gone": True})

    thread = threading.Thread(target=ask)
    thread.start()
    until(lambda: len([pid for pid in _children(page.process.pid) if _lives(pid)]) >= 2)
    return thread, _children(page.process.pid), events


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_it_ends_with_all_that_it_started(slow: Workshop, number: signal.Signals) -> None:
    with served(slow) as page:
        thread, processes, _ = _ask_slowly(page)
        page.process.send_signal(number)
        assert page.process.wait(20) == (-number if number == signal.SIGKILL else 0)
        until(lambda: not any(map(_lives, processes)))
        thread.join(20)


def test_a_question_can_be_stopped_and_the_next_one_is_answered(slow: Workshop) -> None:
    with served(slow) as page:
        thread, processes, events = _ask_slowly(page)
        run = page.only_run()
        time.sleep(0.2)
        assert page.post("api/stop", {"run": run}).json == {"stopped": True}
        thread.join(20)
        assert events[-1]["done"] == 130 and "florc: interrupted" in said(events), events
        events = page.ask(run=run, line=4, expression="epoch + 1")
        assert values(events, "epoch + 1") == [1, 2, 3], events
        assert set(_children(page.process.pid)) <= set(processes)  # the process that has the imports is the same
        assert page.post("api/stop", {"run": run}).json == {"stopped": False}


def test_a_question_of_a_page_that_went_away_is_ended(slow: Workshop) -> None:
    with served(slow) as page:
        run = page.only_run()
        body = json.dumps({"run": run, "line": 4, "expression": ENDLESS})
        host = page.root.removeprefix("http://")
        there = http.client.HTTPConnection(host)
        there.request("POST", page.url.removeprefix(page.root) + "api/ask", body, {"Content-Type": "application/json"})
        there.getresponse().readline()
        until(lambda: len(_children(page.process.pid)) >= 2)
        there.close()
        events = page.ask(run=run, line=4, expression="epoch + 1")
        assert values(events, "epoch + 1") == [1, 2, 3], events


def test_nothing_is_written_for_a_page_that_only_looks(workshop: Workshop) -> None:
    record(workshop)
    store = workshop.path / ".florc"

    def contents() -> dict[str, int]:
        return {str(path): path.stat().st_mtime_ns for path in store.rglob("*")}

    before = contents()
    with served(workshop) as page:
        run = page.only_run()
        for name in ("runs", "show", "logs", "curves", "timeline", "source"):
            assert page.get(f"api/{name}?run={run}").status == 200
    assert contents() == before


def test_a_port_that_is_taken_is_refused(page: Page, shop: Workshop) -> None:
    port = int(page.root.rpartition(":")[2])
    text = f"import florc.cli.main as m; print(m.run_ui if 0 else m._ui({{'run': None, 'port': {port}, 'open': False}}))"
    done = shop.run(sys.executable, "-c", text)
    assert done.code == 1 and "address already in use" in done.err


def test_a_browser_is_led_to_the_page_by_a_file_that_nobody_else_reads(shop: Workshop, tmp_path: Path, monkeypatch) -> None:
    told = tmp_path / "told"
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$1" > {told}.new; stat -c %a "${{1#file://}}" >> {told}.new; cat "${{1#file://}}" >> {told}.new; mv {told}.new {told}\n'
    )
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    monkeypatch.setenv("DISPLAY", ":0")
    text = "from florc.ui.command import run_ui; raise SystemExit(run_ui({'run': None, 'port': 0, 'open': True}))"
    process = shop.start(sys.executable, "-c", text)
    try:
        page = Page(process)
        until(told.exists)
        word, mode, held = told.read_text().split("\n", 2)
        assert word.startswith("file://") and mode == "600" and page.url in held
        assert page.get("").status == 200
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 0 and not Path(word.removeprefix("file://")).exists()


def test_questions_of_a_terminal_are_not_carried_on(shop: Workshop) -> None:
    process = shop.start(sys.executable, "-m", "florc", "ask", "--interactive", "train.py", stdin=subprocess.PIPE)
    out, err = process.communicate("--at 17 'epoch + 1'\n--at 17 'epoch + 2' --last\n\n", timeout=60)
    assert out.splitlines() == [*(f"epoch + 1 {epoch + 1}" for epoch in range(6)), "epoch + 2 7"], err
    assert "nothing is asked" in err and process.returncode == 2
    refused = shop.florc("ask", "--interactive", "train.py", "--at", "17", "epoch")
    assert refused.code == 2 and "each line is a question" in refused.said
