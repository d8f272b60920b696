"""The work root: a trusted folder with the tools and the synthetic /etc files that every sandbox binds."""

import os
import stat
import tempfile
from pathlib import Path

from sandbox.backends.refusals import unsearchable
from sandbox.errors import SandboxUnavailableError
from sandbox.process.building import make_open


def ready(root: Path) -> Path:
    """Make `root` if need be, and make sure that it can be trusted and reached. Raises SandboxUnavailableError."""
    try:
        make_open(root)
    except OSError as error:
        raise SandboxUnavailableError(
            f"work root {root} can't be made: {error.strerror}; choose another place"
        ) from error
    root = root.resolve()
    found = root.stat()
    if found.st_uid not in (0, os.geteuid()) or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise SandboxUnavailableError(f"work root {root} may be changed by others; chmod 0755 it and own it")
    closed = unsearchable(root) if os.geteuid() == 0 else None
    if closed is not None:
        raise SandboxUnavailableError(
            f"work root {root} can't be reached by the slots' uids: {closed} is closed to others; "
            "choose a place like /var/lib, or chmod o+x it"
        )
    return root


def write_etc(folder: Path, files: dict[str, str]) -> Path:
    """Put the synthetic files into `folder`, leaving those alone that are right already."""
    make_open(folder)
    for name, content in files.items():
        target = folder / name
        if not target.exists() or target.read_text() != content:
            with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
                file.write(content)
                os.fchmod(file.fileno(), 0o444)
            Path(file.name).rename(target)
    return folder
