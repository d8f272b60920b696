"""A real docker engine of the tests' own, with its own data and socket, and an image made of one static program."""

import io
import os
import re
import socket
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.services.programs import program
from tests.services.server import ServerProcess

_ENGINE = "--iptables=false --ip6tables=false --bridge=none --log-level=warn"


@dataclass
class DockerEngine:
    """An engine and how it is reached."""

    process: ServerProcess
    url: str

    def cli(self, *words: str, stdin: bytes = b"") -> str:
        """Run the docker command against it."""
        done = subprocess.run(
            [str(program("docker")), "--host", self.url, *words], input=stdin, capture_output=True, check=True
        )
        return done.stdout.decode().strip()

    def load(self, tree: bytes, *changes: str) -> str:
        """Make an image of a tar; give its id."""
        return self.cli("import", *(f"--change={change}" for change in changes), "-", stdin=tree)

    def containers(self) -> list[str]:
        """List all containers, dead ones as well."""
        return self.cli("ps", "--all", "--quiet", "--no-trunc").split()


def an_engine(folder: Path) -> DockerEngine:
    """Prepare an engine that keeps everything in `folder`, whose path has to be short: a socket is in it."""
    door = folder / "s"
    words = ["--data-root", folder / "data", "--exec-root", folder / "exec", "--pidfile", folder / "pid"]
    command = [str(program("dockerd")), *_ENGINE.split(), *(str(word) for word in words), "--host", f"unix://{door}"]

    def answers() -> bool:
        with socket.socket(socket.AF_UNIX) as caller:
            caller.settimeout(5)
            try:
                caller.connect(str(door))
                caller.sendall(b"GET /_ping HTTP/1.0\r\n\r\n")
                return b" 200 " in caller.recv(100)
            except OSError:
                return False

    # An engine looks for its parts in PATH; a system's folders may not be in a user's.
    env = {"PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}  # noqa: TID251 (tests have no settings)
    return DockerEngine(ServerProcess(lambda: command, answers, folder / "log", env), f"unix://{door}")


_LOCK = """
#include <stdlib.h>
#include <sys/file.h>
int main(int count, char **words) { return count != 2 || flock(atoi(words[1]), LOCK_EX) != 0; }
"""


def a_small_tree(busybox: Path, *, shell: bool = True, python: Path | None = None, mark: str = "") -> bytes:
    """Make a root file system of one static busybox under all its names, and `flock`, which Debian's lacks.

    With `python`, this machine's own is in it as well; `mark` is what its file /mark holds.
    """
    listing = subprocess.run([str(busybox), "--list"], capture_output=True, check=True).stdout.decode().split()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar, tempfile.TemporaryDirectory() as scratch:
        flock = Path(scratch) / "flock"
        compile_ = [str(program("cc")), "-static", "-x", "c", "-", "-o", str(flock)]
        subprocess.run(compile_, input=_LOCK.encode(), check=True)
        tar.add(busybox.resolve(), "bin/busybox")
        tar.add(flock, "usr/bin/flock")
        for name in {*listing} - {"busybox", "flock", *(() if shell else ("sh",))}:
            _link(tar, f"bin/{name}")
        _link(tar, "usr/bin/env")
        place = tarfile.TarInfo("open")
        place.type, place.mode = tarfile.DIRTYPE, 0o777
        tar.addfile(place)
        marked = tarfile.TarInfo("mark")
        marked.size, marked.mode = len(mark.encode()), 0o644
        tar.addfile(marked, io.BytesIO(mark.encode()))
        if python is not None:
            _add_python(tar, python)
    return packed.getvalue()


def _add_python(tar: tarfile.TarFile, python: Path) -> None:
    """Add an interpreter, its libraries and what the standard library has in Python."""
    needed = subprocess.run(["ldd", python.resolve()], capture_output=True, check=True).stdout.decode()
    for place in (str(python.resolve()), *re.findall(r"(/\S+) \(", needed)):
        tar.add(Path(place).resolve(), place)
    tar.add(python.resolve(), str(python))
    library = f"/usr/lib/{python.resolve().name}"

    def is_small(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
        left_out = ("__pycache__", "dist-packages", "lib-dynload", "idlelib", "ensurepip", "lib2to3", "test", "config-")
        return None if any(part.startswith(left_out) for part in member.name.split("/")[3:]) else member

    tar.add(library, library, filter=is_small)


def _link(tar: tarfile.TarFile, name: str) -> None:
    link = tarfile.TarInfo(name)
    link.type, link.linkname = tarfile.SYMTYPE, "/bin/busybox"
    tar.addfile(link)
