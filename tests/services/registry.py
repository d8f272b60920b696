"""A registry of one image, over HTTP on the loopback, which engines trust: enough of it for a pull by digest."""

import gzip
import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_TYPE = "application/vnd.docker."
_MANIFEST = f"{_TYPE}distribution.manifest.v2+json"
_UNKNOWN = b'{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "nobody knows it"}]}'


@dataclass
class Registry:
    """What it has, and the name of its image."""

    blobs: Mapping[str, bytes]
    manifest: str
    id: str
    """What an engine calls the image once it has it."""
    port: int = 0
    may_answer: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}/tasks/one@{self.manifest}"


def _digest(body: bytes) -> str:
    return f"sha256:{hashlib.sha256(body).hexdigest()}"


def _an_image(tree: bytes) -> Registry:
    layer = gzip.compress(tree, 1)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
    about = {
        "architecture": machine,
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [_digest(tree)]},
    }
    config = json.dumps(about).encode()

    def described(kind: str, body: bytes) -> dict[str, Any]:
        return {"mediaType": f"{_TYPE}{kind}", "size": len(body), "digest": _digest(body)}

    manifest = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": described("container.image.v1+json", config),
            "layers": [described("image.rootfs.diff.tar.gzip", layer)],
        }
    ).encode()
    blobs = {_digest(body): body for body in (layer, config, manifest)}
    return Registry(blobs, _digest(manifest), _digest(config))


@contextmanager
def a_registry(tree: bytes) -> Iterator[Registry]:
    """Serve an image of `tree`; clear `may_answer` to let whoever pulls wait."""
    registry = _an_image(tree)
    registry.may_answer.set()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            registry.asked.set()
            registry.may_answer.wait(30)
            digest = self.path.rpartition("/")[2]
            found = b"{}" if self.path == "/v2/" else registry.blobs.get(digest)
            body = _UNKNOWN if found is None else found
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", _MANIFEST if "/manifests/" in self.path else "application/octet-stream")
            self.send_header("Docker-Content-Digest", digest)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        registry.port = server.server_port
        serving = threading.Thread(target=server.serve_forever, args=(0.02,))
        serving.start()
        try:
            yield registry
        finally:
            registry.may_answer.set()
            server.shutdown()
            serving.join()
