"""A local server that serves models as the Hugging Face Hub does, with the commits that a test pushes."""

import hashlib
import importlib
import json
import os
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from huggingface_hub import constants


class Hub:
    """Models by `owner/name`, each with its commits. Models of the owner `gated` have terms that are not accepted.

    files: the downloads so far, in order. asked: number of requests that resolve a branch or tag.
    telemetry: what libraries reported about their use, as paths.
    """

    def __init__(self):
        self.models: dict[str, dict[str, dict[str, bytes]]] = defaultdict(dict)
        self.names: dict[str, dict[str, str]] = defaultdict(dict)  # commits by branch or tag
        self.files: list[str] = []
        self.asked = 0
        self.telemetry: list[str] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))

    def __enter__(self) -> "Hub":
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_) -> None:
        self.server.shutdown()
        self.server.server_close()

    def push(self, name: str, folder: Path, *tags: str) -> str:
        """Adds the files of a folder as the newest commit, and returns it."""
        files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        commit = hashlib.sha1(b"".join(f.encode() + content for f, content in sorted(files.items()))).hexdigest()
        self.models[name][commit] = files
        self.names[name].update(dict.fromkeys(("main", *tags), commit))
        return commit

    def environment(self, home: Path, *, offline: bool = False) -> dict[str, str]:
        """Returns environment variables that make clients use this hub, with the cache below `home`."""
        address = f"http://127.0.0.1:{self.server.server_port}"
        return {"HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_OFFLINE": str(int(offline))}


def heed(environment: dict[str, str]) -> None:
    """Applies the variables to this process, whose hub client read its own on import."""
    os.environ.update(environment)
    importlib.reload(constants)


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            parts = unquote(urlsplit(self.path).path).strip("/").split("/")
            if parts[:2] == ["api", "telemetry"]:
                hub.telemetry.append("/".join(parts[2:]))
                return self.send(200, {})
            api = parts[:2] == ["api", "models"]
            owner, model, *rest = parts[2:] if api else parts
            name = f"{owner}/{model}"
            what, revision, *path = rest or ["revision", "main"]
            if owner == "gated" and not api:
                return self.send(403, {"X-Error-Code": "GatedRepo"})
            if name not in hub.models:
                return self.send(404, {"X-Error-Code": "RepoNotFound"})
            commit = hub.names[name].get(revision, revision)
            files = hub.models[name].get(commit)
            if files is None:
                return self.send(404, {"X-Error-Code": "RevisionNotFound"})
            if what == "revision":
                hub.asked += 1
                return self.send(200, {}, json.dumps({"id": name, "sha": commit}).encode())
            if what == "tree":
                listed = [
                    {"type": "file", "path": file, "size": len(content), "oid": _git(content)}
                    for file, content in files.items()
                ]
                return self.send(200, {}, json.dumps(listed).encode())
            file = "/".join(path)
            if file not in files:
                return self.send(404, {"X-Repo-Commit": commit, "X-Error-Code": "EntryNotFound"})
            if self.command == "GET":
                hub.files.append(file)
            return self.send(200, {"X-Repo-Commit": commit, "ETag": f'"{_git(files[file])}"'}, files[file])

        do_HEAD = do_GET

        def send(self, status: int, headers: dict[str, str], content: bytes = b"") -> None:
            self.send_response(status)
            for header, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(header, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_):
            pass

    return Handler


def _git(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
