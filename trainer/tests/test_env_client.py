"""How the client of `tandem serve` asks by plain HTTP."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tandem_env import client


class Serving(BaseHTTPRequestHandler):
    def do_GET(self):
        self.answer([{"name": "train", "type": "train"}])

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer({"tasks": [{"task_id": self.headers["Authorization"]}]})

    def answer(self, value):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def url():
    with ThreadingHTTPServer(("127.0.0.1", 0), Serving) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_no_request_goes_through_the_proxy_of_the_environment(url, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert client.tasks(url, token="ours") == [{"split": "train", "task_id": "Bearer ours"}]
