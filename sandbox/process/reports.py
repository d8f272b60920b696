"""The two pipes on which a sandbox tells of itself: bubblewrap's JSON documents and our init's lines."""

import json
import os
from dataclasses import dataclass

_MOST = 65536


@dataclass(frozen=True, slots=True)
class Child:
    """The namespace's first process, as bubblewrap counts it."""

    pid: int
    pid_namespace: int


class Report:
    """The reading end of one pipe, collected without blocking."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self.is_open = True
        self.text = b""

    def read(self) -> None:
        """Collect what is there now."""
        while self.is_open:
            try:
                chunk = os.read(self.fd, _MOST)
            except BlockingIOError:
                return
            self.is_open = bool(chunk)
            self.text += chunk[: _MOST - len(self.text)]


class Status(Report):
    """Bubblewrap's `--json-status-fd`. Documents arrive in pieces, so the text is read again from its start."""

    def child(self) -> Child | None:
        """Give the child once bubblewrap has named it; nothing of the guest runs before that."""
        for document in self._documents():
            pid, namespace = document.get("child-pid"), document.get("pid-namespace")
            if isinstance(pid, int) and isinstance(namespace, int):
                return Child(pid, namespace)
        return None

    def has_exit_code(self) -> bool:
        """Tell whether the child ran to an end that bubblewrap waited for: then its namespace is dead."""
        return any("exit-code" in document for document in self._documents())

    def _documents(self) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        decoder, text, at = json.JSONDecoder(), self.text.decode(errors="replace").strip(), 0
        while at < len(text):
            try:
                document, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError:
                break
            found.append(document)
            at += len(text[at:]) - len(text[at:].lstrip())
        return found
