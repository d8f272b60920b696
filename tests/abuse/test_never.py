"""B: what is never asked of bubblewrap or of git, with what would happen if it were."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from farm.model import OracleSpec
from sandbox.errors import SandboxError, SandboxRefusedError
from sandbox.spec import Bind, Limits, SandboxSpec
from tests.builders.sandbox_rooms import AN_ORDINARY_USER, bubblewrap, system_python, work_root
from tests.builders.sandbox_trees import is_soon
from tests.builders.worker.farm import Farm
from worker.tasks import carry

DROP = ("setpriv", f"--reuid={AN_ORDINARY_USER}", f"--regid={AN_ORDINARY_USER}", "--clear-groups")
LIMITS = Limits(
    wall_s=10,
    memory_bytes=256 << 20,
    processes=32,
    file_size_bytes=1 << 20,
    open_files=64,
    output_bytes=1 << 16,
    tmp_bytes=1 << 20,
)


@dataclass(frozen=True)
class Scene:
    """A workspace that a guest has written to, and a folder of the host that it has no business in."""

    ws: Path
    victim: Path

    @property
    def made(self) -> list[str]:
        return sorted(path.name for path in self.victim.iterdir())


@pytest.fixture
def scene() -> Iterator[Scene]:
    place = work_root() / f"never-{os.urandom(4).hex()}"
    found = Scene(place / "ws", place / "victim")
    for folder in (place, found.ws, found.victim):
        folder.mkdir()
        folder.chmod(0o777)
    (found.victim / "secret").write_text("a secret of the host")
    (found.ws / "absolute").symlink_to(f"/oldroot{found.victim}")
    (found.ws / "relative").symlink_to(f"../oldroot{found.victim}")
    return found


def run(*binds: Bind, argv: tuple[str, ...] = ("true",)) -> bytes:
    heard = bytearray()
    spec = SandboxSpec(argv=argv, binds=binds, limits=LIMITS, cwd="/")
    bubblewrap().run(spec, lambda _, chunk: heard.extend(chunk), lambda: False)
    return bytes(heard)


@pytest.mark.parametrize("link", ["absolute", "relative"])
@pytest.mark.parametrize("source", ["folder", "file"])
def test_b1_to_b6_no_mount_is_made_at_or_below_what_a_guest_may_write_to(scene: Scene, link: str, source: str) -> None:
    ours = scene.ws.parent / source
    _ = ours.mkdir() if source == "folder" else ours.write_text("ours")
    with pytest.raises(SandboxRefusedError, match="is inside the bind"):
        run(Bind(scene.ws, "/cell/ws", writable=True), Bind(ours, f"/cell/ws/{link}/made"))
    assert scene.made == ["secret"]


def test_b1n_such_a_mount_reaches_the_host_where_bubblewrap_follows_the_link(scene: Scene) -> None:
    drop = DROP if os.geteuid() == 0 else ()
    words = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64")
    ran = subprocess.run(
        [
            *drop,
            "bwrap",
            "--unshare-all",
            *words,
            "--bind",
            scene.ws,
            "/ws",
            "--dir",
            "/ws/absolute/made",
            "/usr/bin/true",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
    )
    if "symlink" in ran.stderr:
        pytest.skip(f"this bubblewrap refuses by itself: {ran.stderr.strip()}")
    assert scene.made == ["made", "secret"], ran.stderr


def test_b7_no_source_is_taken_through_a_link_that_a_guest_planted(scene: Scene) -> None:
    (scene.ws / "skills").symlink_to(scene.victim)
    with pytest.raises(SandboxRefusedError, match="symlink 'skills'"):
        run(Bind(scene.ws / "skills", "/cell/skills"), argv=("cat", "/cell/skills/secret"))


def test_b7n_the_same_place_named_by_itself_is_taken(scene: Scene) -> None:
    assert run(Bind(scene.victim, "/cell/skills"), argv=("cat", "/cell/skills/secret")) == b"a secret of the host"


SWAP = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
os.chdir("/cell/ws")
os.symlink(sys.argv[1], "link")
print("swapping", flush=True)
while True:
    libc.renameat2(-100, b"skills", -100, b"link", 2)
"""


@pytest.mark.skipif(bubblewrap().facts()["bind_sources"] != "opened by us", reason="this bubblewrap takes names alone")
def test_b7_no_source_is_taken_that_a_living_guest_puts_in_the_place_of_another(scene: Scene) -> None:
    (scene.ws / "skills").mkdir()
    (scene.ws / "skills").chmod(0o777)
    heard, is_over = bytearray(), threading.Event()
    argv = (system_python(), "-I", "-S", "-c", SWAP, str(scene.victim))
    spec = SandboxSpec(argv=argv, binds=(Bind(scene.ws, "/cell/ws", writable=True),), limits=LIMITS, cwd="/")
    swapping = threading.Thread(
        target=bubblewrap().run, args=(spec, lambda _, chunk: heard.extend(chunk), is_over.is_set)
    )
    swapping.start()
    try:
        assert is_soon(lambda: bool(heard))
        seen, end = set[bytes](), time.monotonic() + 4.0
        while time.monotonic() < end:
            with suppress(SandboxError):
                binds = Bind(scene.ws / "skills", "/cell/in")
                seen.add(run(binds, argv=("sh", "-c", "cat /cell/in/secret 2>/dev/null; echo ran")))
    finally:
        is_over.set()
        swapping.join()
    assert seen == {b"ran\n"}


def test_b12_the_hidden_files_leave_nothing_in_the_workspace_and_are_not_in_it() -> None:
    check = "ls -A /cell; ls -A /cell/ws; case $FARM_HIDDEN in /cell/ws*) exit 1;; esac"
    farm = Farm(
        root=work_root() / "line",
        sandbox=bubblewrap(),
        oracle=OracleSpec(kind="command", options={"argv": ["sh", "-c", check]}, keep_output=True),
        hidden={"secret": "hidden"},
    )
    line = farm.line()
    try:
        carry(line, farm.ticket)
    finally:
        line.close()
    evidence = farm.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.correct is True
    assert evidence.workspace_before == evidence.workspace_after
    cell, ws = farm.artifact("oracle.stdout").decode().split("ws\n")
    assert cell.startswith(".o-")
    assert ws.split() == [".git", "README.md", "src"]
    assert farm.leftovers() == []


def test_no_git_on_the_host_opens_what_a_session_left() -> None:
    ran = work_root() / "git-ran"
    evil = f"touch {ran}; cat"
    script = [
        {"run": {"command": f"git config core.fsmonitor '{evil}'; git config filter.x.clean '{evil}'; true"}},
        {"write": {"path": ".gitattributes", "text": "* filter=x\n"}},
        {"write": {"path": "src/a.py", "text": "A = 2\n"}},
    ]
    farm = Farm(root=work_root() / "line", sandbox=bubblewrap(), script=script)
    line = farm.line()
    try:
        carry(line, farm.ticket)
    finally:
        line.close()
    assert b"+A = 2" in farm.artifact("patch")
    assert not ran.exists()
