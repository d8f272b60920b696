"""What a spec may not ask for, said before anything is executed."""

import os
import posixpath
import stat
from itertools import pairwise
from pathlib import Path

from sandbox.errors import SandboxRefusedError
from sandbox.spec import DOOR, SERVER, TOOL, Door, Limits, SandboxSpec

_MOST_WORDS = 8000
"""Bubblewrap takes 9000, its own included."""
_LONGEST_WORD = 131071
"""The kernel's bound for one argument or environment string."""
_OURS = ("/", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/dev", "/sys", "/.init")
_ENTRIES = (TOOL, SERVER)
_OURS_ALONE = ("/run", "/home", "/cell")

_MOST_BINDS = 64
"""The spawner takes so many descriptors and some more."""
_PORTS = range(1024, 65536)
"""A guest is nobody, so the ports below are not for it."""


def refuse_unsafe(spec: SandboxSpec) -> None:
    """Raise SandboxRefusedError for a spec that is unsafe or that bubblewrap could not take."""
    _refuse_words(spec)
    _refuse_limits(spec.limits)
    _refuse_environment(spec)
    _refuse_path("cwd", spec.cwd)
    _refuse_path("home", spec.home)
    if len(spec.binds) > _MOST_BINDS:
        raise SandboxRefusedError(
            f"{len(spec.binds)} binds are more than {_MOST_BINDS}: put their sources into one folder"
        )
    targets = [bind.target for bind in spec.binds]
    for target in targets:
        _refuse_target(target)
    _refuse_nesting([*targets, DOOR])
    for bind in spec.binds:
        _refuse_links("bind source", bind.source)
    _refuse_scratch(spec)
    if spec.door is not None:
        _refuse_door(spec.door)


def refuse_entries(spec: SandboxSpec) -> None:
    """Raise SandboxRefusedError for a bind in the place of what leads into a room, whether or not there is one."""
    for bind in spec.binds:
        if bind.target in _ENTRIES:
            raise SandboxRefusedError(
                f"bind target {bind.target!r} is the sandbox's own; choose a place like /cell/name"
            )


def _refuse_words(spec: SandboxSpec) -> None:
    if not spec.argv:
        raise SandboxRefusedError("argv is empty: name the command to run")
    words = (*spec.argv, *(f"{key}={value}" for key, value in spec.env.items()))
    if len(words) > _MOST_WORDS:
        raise SandboxRefusedError(f"{len(words)} words are more than {_MOST_WORDS}: pass the rest in a file")
    for word in (*words, spec.cwd, spec.home, *(bind.target for bind in spec.binds)):
        if "\0" in word:
            raise SandboxRefusedError(f"{word[:80]!r} holds a NUL, which would end the word early")
        if _size(word) > _LONGEST_WORD:
            raise SandboxRefusedError(
                f"{word[:80]!r}… is longer than {_LONGEST_WORD} bytes: pass it in a file or on stdin"
            )


def _size(word: str) -> int:
    try:
        return len(os.fsencode(word))
    except UnicodeEncodeError as error:
        raise SandboxRefusedError(
            f"{word[:80]!r} holds half a character (a lone surrogate): it has no bytes"
        ) from error


def _refuse_limits(limits: Limits) -> None:
    for name in limits.__slots__:
        value = getattr(limits, name)
        if value is not None and value <= 0:
            raise SandboxRefusedError(f"limit {name} is {value}; it must be more than 0")


def _refuse_environment(spec: SandboxSpec) -> None:
    for key in spec.env:
        if not key or "=" in key:
            raise SandboxRefusedError(f"{key!r} is no name for an environment variable")


def _refuse_path(name: str, path: str) -> None:
    if not path.startswith("/") or posixpath.normpath(path) != path:
        raise SandboxRefusedError(f"{name} {path!r} must be absolute and plain, without '..', '.', '//' or a final '/'")


def _refuse_target(target: str) -> None:
    _refuse_path("bind target", target)
    if target in _OURS_ALONE or any(_is_at_or_below(target, ours) for ours in _OURS if ours != "/") or target == "/":
        raise SandboxRefusedError(f"bind target {target!r} is the sandbox's own; choose a place like /cell/name")


def _refuse_nesting(targets: list[str]) -> None:
    """Keep mounts out of binds: in one, a guest may plant a symlink that bubblewrap follows out to the host."""
    ordered = sorted(targets, key=lambda target: target.split("/"))
    for upper, lower in pairwise(ordered):
        if upper == lower:
            raise SandboxRefusedError(f"two binds have the target {upper!r}")
        if _is_at_or_below(lower, upper):
            raise SandboxRefusedError(f"bind target {lower!r} is inside the bind {upper!r}; make them siblings")


def _refuse_scratch(spec: SandboxSpec) -> None:
    """Keep scratch to folders of read-only binds, where no guest can have planted a link."""
    for one in spec.scratch:
        _refuse_path("scratch", one.target)
        if one.size_bytes <= 0:
            raise SandboxRefusedError(f"scratch {one.target!r} has {one.size_bytes} bytes; it must be more than 0")
        bind = next((bind for bind in spec.binds if one.target.startswith(f"{bind.target}/")), None)
        if bind is None or bind.writable:
            raise SandboxRefusedError(f"scratch {one.target!r} is below no read-only bind")
        place = bind.source / one.target.removeprefix(f"{bind.target}/")
        _refuse_links("scratch", place)
        if not place.is_dir():
            raise SandboxRefusedError(f"scratch {one.target!r} is no folder in its bind")
    for upper, lower in pairwise(sorted((one.target for one in spec.scratch), key=lambda target: target.split("/"))):
        if _is_at_or_below(lower, upper):
            raise SandboxRefusedError(f"scratch {lower!r} is inside the scratch {upper!r}; make them siblings")


def _is_at_or_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")


def _refuse_door(door: Door) -> None:
    if door.port not in _PORTS:
        raise SandboxRefusedError(f"door port {door.port} is not one of {_PORTS.start} to {_PORTS.stop - 1}")
    _refuse_links("door", door.socket)
    if not door.socket.is_socket():
        raise SandboxRefusedError(f"door {str(door.socket)!r} is no socket: listen on it before the run")


def refuse_image(spec: SandboxSpec, backend: str) -> None:
    """Raise SandboxRefusedError for a spec that brings an image to a backend that runs none."""
    if spec.image is not None:
        raise SandboxRefusedError(f"the sandbox {backend} runs no image, and {spec.image} is one: use docker for it")


def refuse_place(name: str, place: Path) -> None:
    """Raise SandboxRefusedError for a place, not made yet, on the way to which a link stands."""
    _refuse_links(f"{name}'s folder", place.parent)


def _refuse_links(name: str, path: Path) -> None:
    os.close(open_plain(name, path))


def open_plain(name: str, path: Path) -> int:
    """Open `path` (O_PATH) without following a link: a guest that could have made one would choose its end."""
    source = str(path)
    if "\0" in source:
        raise SandboxRefusedError(f"{name} {source!r} holds a NUL")
    _size(source)
    _refuse_path(name, source)
    at = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in source.split("/")[1:]:
        try:
            below = os.open(part or ".", os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
        except OSError as error:
            raise SandboxRefusedError(f"{name} {source!r} can't be opened: {error.strerror}") from error
        finally:
            os.close(at)
        at = below
        if stat.S_ISLNK(os.fstat(at).st_mode):
            os.close(at)
            raise SandboxRefusedError(
                f"{name} {source!r} passes through the symlink {part!r}; name the place that it leads to"
            )
    return at


def unsearchable(path: Path) -> Path | None:
    """Give the first folder on the way to `path`, itself included, that others may not search; None is good."""
    for folder in (*reversed(path.parents), path):
        if not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None
