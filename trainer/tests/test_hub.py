"""A base that the hub does not give: one sentence for each reason, from a real server that answers as the hub does."""

import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TRAINER = Path(__file__).parents[1]


class Refusing(BaseHTTPRequestHandler):
    def do_GET(self):
        gated = "gated/" in self.path
        self.send_response(403 if gated else 404)
        self.send_header("X-Error-Code", "GatedRepo" if gated else "RepoNotFound")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET

    def log_message(self, *_):
        pass


ASK = """
import sys
from pathlib import Path
from tandem_trainer.config import ModelConfig
from tandem_trainer.fault import Fault
from tandem_trainer.model.flops import read_shape
from tandem_trainer.model.folder import load_tokenizer, quiet
quiet()
for name in sys.argv[1:]:
    for read in (read_shape, lambda name: load_tokenizer(ModelConfig(base=name), name, Path())):
        try:
            read(name)
        except Fault as fault:
            print(fault)
"""


def refused(tmp_path, *names, **variables):
    """What a trainer says that plans with each, and then checks it. Where the hub is is settled when it is imported."""
    environment = {**os.environ, "HF_HOME": str(tmp_path), "PYTHONPATH": str(TRAINER), **variables}
    run = subprocess.run([sys.executable, "-c", ASK, *names], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    said = run.stdout.splitlines()
    assert said[::2] == said[1::2]
    return said[::2]


def test_a_name_that_the_hub_refuses_is_told_as_the_field_that_is_wrong(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        address = f"http://127.0.0.1:{server.server_port}"
        unknown, gated = refused(tmp_path, "nobody/nothing", "gated/model", HF_ENDPOINT=address, HF_HUB_OFFLINE="0")
    finally:
        server.shutdown()
        server.server_close()
    assert unknown.startswith("model.base is nobody/nothing, but the hub has no such model")
    assert gated.startswith("model.base is gated/model, which the hub gives to those alone who agree to its terms")


def test_a_hub_that_cannot_be_reached_is_no_fault_of_the_name(tmp_path):
    (said,) = refused(tmp_path, "some/model", HF_HUB_OFFLINE="1")
    assert said.startswith("The model some/model is on the hub, which cannot be reached")
