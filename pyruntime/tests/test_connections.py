"""What a server says is what it said in the recorded run, however it is asked. The truth is what the recorded run wrote down itself;
the server gives another answer each time."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from workshop import Workshop


class Says(BaseHTTPRequestHandler):
    """Answers with what it never said before, as often as the path's length says."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = uuid.uuid4().hex.encode() * len(self.path)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is said of it."""


def serving(server: ThreadingHTTPServer) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def port() -> Iterator[int]:
    yield from serving(ThreadingHTTPServer(("127.0.0.1", 0), Says))


@pytest.fixture
def secure_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Path]]:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate")
    folder = tmp_path_factory.mktemp("certificate")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost"
    subprocess.run([*command.split(), "-keyout", "key", "-out", "cert"], cwd=folder, check=True, capture_output=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Says)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert", folder / "key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    for number in serving(server):
        yield number, folder / "cert"


ASKED = {
    "urllib": "urllib.request.urlopen(f'http://127.0.0.1:{PORT}/').read()",
    "much": "urllib.request.urlopen(f'http://127.0.0.1:{PORT}/' + 'x' * 3000).read()",
    "kept connection": "kept()",
    "recv": "raw(lambda s: b''.join(iter(lambda: s.recv(50), b'')))",
    "lines": "raw(lambda s: s.makefile('rb').readlines())",
    "timeout": "raw(lambda s: (s.settimeout(5), b''.join(iter(lambda: s.recv(4096), b''))))",
    "in a function of another": "list(map(urllib.request.urlopen, [f'http://127.0.0.1:{PORT}/']))[0].read()",
}
PROGRAM = """
    import http.client, socket, ssl, urllib.request
    PORT = NUMBER
    connection = None
    def kept():
        global connection
        connection = connection or http.client.HTTPConnection("127.0.0.1", PORT)
        connection.request("GET", "/some")
        return connection.getresponse().read()
    def raw(read):
        with socket.create_connection(("127.0.0.1", PORT)) as s:
            s.sendall(b"GET / HTTP/1.1\\r\\nConnection: close\\r\\n\\r\\n")
            return read(s)
    values = []
    for epoch in range(3):
        for step in range(5):
            total = sum(range(1000))
        values.append(ASKED)
        print("epoch", epoch, total)
        #PROBE
    open("truth", "w").write(repr(values))
"""


def ask(workshop: Workshop, port: int, asked: str) -> None:
    text = PROGRAM.replace("NUMBER", str(port)).replace("ASKED", asked)
    replayed, truth = workshop.written_down(text, 'print("P", values[-1:])')
    is_right = "[" + ", ".join(line[3:-1] for line in replayed.out.splitlines()) + "]" == truth
    assert is_right and replayed.code == 0 and "exact: " in replayed.said, replayed.out + truth + replayed.err


@pytest.mark.parametrize("how", ASKED)
def test_what_a_server_said_is_given_back(workshop: Workshop, port: int, how: str) -> None:
    ask(workshop, port, ASKED[how])


def test_what_a_server_said_over_tls_is_given_back(workshop: Workshop, secure_port: tuple[int, Path]) -> None:
    port, certificate = secure_port
    context = f"ssl.create_default_context(cafile={str(certificate)!r})"
    ask(workshop, port, f"urllib.request.urlopen(f'https://localhost:{{PORT}}/', context={context}).read()")


def test_an_added_statement_hears_what_the_server_says_now(workshop: Workshop, port: int) -> None:
    text = PROGRAM.replace("NUMBER", str(port)).replace("ASKED", ASKED["urllib"])
    workshop.write("train.py", text)
    assert workshop.florc("record", "train.py").code == 0
    workshop.write("train.py", text.replace("#PROBE", f"print('P', {ASKED['urllib']} in values)"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out == "P False\n" * 3 and "exact: " not in replayed.said, replayed.out + replayed.said


AWAITED = """
    import asyncio
    async def asked():
        reader, writer = await asyncio.open_connection("127.0.0.1", NUMBER)
        writer.write(b"GET / HTTP/1.1\\r\\nConnection: close\\r\\n\\r\\n")
        said = await reader.read()
        writer.close()
        return said
    values = []
    for epoch in range(3):
        values.append(asyncio.run(asked()))
        print("epoch", epoch)
        #PROBE
"""


def test_what_is_read_without_waiting_is_told_while_recording_and_flagged(workshop: Workshop, port: int) -> None:
    text = AWAITED.replace("NUMBER", str(port))
    workshop.write("train.py", text)
    recorded = workshop.florc("record", "train.py")
    assert "connections that are read without waiting (asyncio) is not kept" in recorded.said, recorded.said
    workshop.write("train.py", text.replace("#PROBE", "print('P', values[-1:])"))
    replayed = workshop.florc("replay", "train.py")
    assert replayed.out.count("P [b'") == 3 and "exact: " not in replayed.said, replayed.out + replayed.said
