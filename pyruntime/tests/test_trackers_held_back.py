"""Aim writes below the view of files and Visdom draws on a server: on replay the script's own calls change neither."""

from __future__ import annotations

import hashlib
import http.server
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_tracker_packages import LOOP, LOSS, need, norms
from test_tracker_packages import at_home as at_home
from test_trackers import HEAD, recorded, replayed
from workshop import Workshop

AIM = f"""
import logging
logging.getLogger("own").warning("before")
from aim import Run
run = Run(experiment="e", system_tracking_interval=None)
run["hparams"] = {{"lr": 0.1}}
{HEAD}{LOOP.format(log=f"run.track({LOSS}, name='loss', step=epoch, context={{'subset': 'train'}})")}
logging.getLogger("own").warning("after")
run.close()
"""
READ = """
import aim, json, os
repo = aim.Repo(".")
found = {}
for run in sorted(os.listdir(".aim/meta/chunks")):
    about = repo.request_tree("meta", run, read_only=True).subtree("meta").subtree("chunks").subtree(run).collect()
    series = repo.request_tree("seqs", run, read_only=True).subtree("seqs").subtree(("v2", "chunks", run))
    points = {}
    for context, names in about["traces"].items():
        for name, trace in names.items():
            if trace["dtype"] in ("float", "int"):
                arrays = [dict(series.subtree((context, name)).array(of).items()) for of in ("step", "val", "time")]
                points[name] = sorted([array[key] for array in arrays] + [about["contexts"][context]] for key in arrays[0])
    found[run] = {"attrs": about["attrs"], "end": about["end_time"], "points": points, "traces": str(about["traces"])}
with aim.Repo(".").structured_db.get_session() as session:
    from sqlalchemy import text
    found["table"] = [list(map(str, row)) for row in session.execute(text("SELECT * FROM run"))]
print(json.dumps(found))
"""


def sums(folder: Path) -> dict[str, str]:
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


def stored(workshop: Workshop) -> dict[str, Any]:
    """What a repository holds, read by Aim."""
    done = subprocess.run([sys.executable, "-c", READ], cwd=workshop.path, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("is_new", [True, False])
def test_aim_gets_added_values_in_the_recorded_run_and_nothing_else(workshop: Workshop, is_new: bool) -> None:
    need("aim")
    if not is_new:
        subprocess.run([sys.executable, "-c", "import aim; aim.Repo('.', init=True)"], cwd=workshop.path, check=True)
    recorded(workshop, AIM)
    repository = workshop.path / ".aim"
    before, bytes_before = stored(workshop), sums(repository)
    run, _ = before
    done = replayed(workshop, AIM, "print('in', run.hash)")
    assert done.code == 0 and "exact: " in done.said and done.out == f"in {run}\n" * 4, done.err + done.said
    assert sums(repository) == bytes_before, "the script's own calls changed the repository"

    norm = "norm = sum(w * w for w in model.weights)"
    statement = f"{norm}; run.track(norm, name='norm', step=epoch, context={{'subset': 'val'}}); run.track({{'half': norm / 2}})"
    done = replayed(workshop, AIM, statement)
    assert "exact: " in done.said and f"sent 8 values to Aim, {run}: hindsight/norm, hindsight/half" in done.said, done.said
    after, bytes_after = stored(workshop), sums(repository)
    known, points = norms(workshop), after[run]["points"]
    assert [(step, value, context) for step, value, _, context in points.pop("hindsight/norm")] == [
        (step, value, {"subset": "val"}) for step, value in enumerate(known)
    ]
    assert [(step, value, context) for step, value, _, context in points.pop("hindsight/half")] == [
        (step, value / 2, {}) for step, value in enumerate(known)
    ]
    assert points == before[run]["points"]
    for name in ("attrs", "end"):
        assert after[run][name] == before[run][name]
    assert after["table"] == before["table"] and after.keys() == before.keys()

    assert "sent 0 values" in replayed(workshop, AIM, statement).said
    assert sums(repository) == bytes_after, "what is there was sent again"
    done = replayed(workshop, AIM, "run.track(7, name='norm', step=epoch, context={'subset': 'val'}); run['x'] = 1")
    assert "florc does not send Aim's run[…] = …" in done.said and "[F511]" in done.said
    last = stored(workshop)[run]
    assert [point[:2] for point in last["points"]["hindsight/norm.2"]] == [[step, 7] for step in range(4)]
    assert last["attrs"] == before[run]["attrs"]


def test_aim_says_so_where_the_recorded_run_is_gone(workshop: Workshop) -> None:
    need("aim")
    recorded(workshop, AIM)
    (workshop.path / ".aim").rename(workshop.path / ".moved")
    done = replayed(workshop, AIM, "run.track(1, name='norm', step=epoch)")
    assert done.code == 2 and "4 values not sent to Aim" in done.said and "Traceback" not in done.err, done.err + done.said
    assert not (workshop.path / ".aim").exists()


class Server:
    """Stands in for the server of Visdom: keeps what it is sent."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        asked = self.asked

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                asked.append((self.path, message))
                answer = b"true" if self.path.endswith("win_exists") else str(message.get("win") or "").encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Says nothing."""

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    found = Server()
    yield found
    found.http.shutdown()
    found.http.server_close()


def test_visdom_gets_nothing_from_a_replay(workshop: Workshop, server: Server) -> None:
    need("visdom")
    options = "use_incoming_socket=False, raise_exceptions=True, log_to_filename='drawn.log'"
    setup = f"import visdom\nviz = visdom.Visdom(server='http://127.0.0.1', port={server.port}, {options})\n"
    setup += "win = viz.line(Y=[0.0], X=[0])\nviz.text('x', win='text')\n"
    log = f"viz.line(Y=[{LOSS}], X=[epoch], win=win, update='append'); print(viz.win_exists('text'), win)"
    text = setup + HEAD + LOOP.format(log=log)
    before = recorded(workshop, text)
    asked = list(server.asked)
    assert sum(path == "/update" for path, _ in asked) == 4 and before["drawn.log"].count(b"\n") == 6
    done = replayed(workshop, text, "viz.line(Y=[1.0], X=[epoch], win='norm', update='append'); print('sum', sum(model.weights))")
    assert done.code == 0 and "exact: " in done.said and len(done.out.splitlines()) == 4, done.err + done.said
    assert "florc does not send what is drawn with Visdom (norm) [F511]" in done.said
    assert server.asked == asked and (workshop.path / "drawn.log").read_bytes() == before["drawn.log"]
    only = replayed(workshop, text, "viz.close('text'); viz.line(Y=[1.0], X=[epoch], win='norm')")
    assert "florc does not send Visdom's close" in only.said and server.asked == asked, only.said


def test_visdom_without_a_server_is_not_missed(workshop: Workshop) -> None:
    """A client whose server is gone when the run is replayed, with the socket on which it waits for the server."""
    need("visdom")
    options = "offline=True, log_to_filename='drawn.log'"
    text = (
        f"import visdom\nviz = visdom.Visdom({options})\n" + HEAD + LOOP.format(log=f"viz.line(Y=[{LOSS}], X=[epoch], win='a')")
    )
    before = recorded(workshop, text)
    done = replayed(workshop, text, "viz.text('added', win='b')")
    assert done.code == 0 and "exact: " in done.said and "Visdom (b)" in done.said, done.err + done.said
    assert (workshop.path / "drawn.log").read_bytes() == before["drawn.log"]
