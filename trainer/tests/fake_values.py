"""A stand-in for `tandem serve --value-agent`, which writes down what it was asked.

    python fake_values.py FOLDER MODE serve's arguments …

A candidate is worth a fraction that depends on its length. MODE: `values`; `refuse`, `short`, `null` and `end`, which
answer badly; `stop`, which asks the run in FOLDER to stop at the second request.
"""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

# Tests import this module for `value` alone.
FOLDER, MODE = (Path(sys.argv[1]), sys.argv[2]) if __name__ == "__main__" else (Path(), "")
ASKED = FOLDER / "asked.jsonl"


def value(text: str) -> float:
    return len(text) % 5 / 4


class Values(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_known = self.headers["Authorization"] == f"Bearer {os.environ['TANDEM_SERVE_TOKEN']}"
        with open(ASKED, "a") as asked:
            asked.write(json.dumps({"path": self.path, "is_known": is_known, **body}) + "\n")
        if MODE == "end":
            print("no memory", file=sys.stderr, flush=True)
            os._exit(3)
        if MODE == "stop" and len(ASKED.read_text().splitlines()) == 2:
            (FOLDER / "stop").touch()
        candidates = [{"value": value(text), "ended": False} for text in body["states"][0]["candidates"]]
        if MODE == "null":
            candidates[0] = {"value": None, "why": "Its answer cannot be graded here."}
        answer = {"agent": "fake", "states": [{"candidates": candidates[: 0 if MODE == "short" else None]}]}
        if MODE == "refuse":
            answer = {"detail": "There is no task of this name."}
        data = json.dumps(answer).encode()
        self.send_response(400 if MODE == "refuse" else 200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    (FOLDER / "arguments.json").write_text(json.dumps(sys.argv[3:]))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Values)
    Thread(target=server.serve_forever, daemon=True).start()
    print(f"Serving 8 tasks at http://127.0.0.1:{server.server_port}; Ctrl+C ends it.", file=sys.stderr, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
