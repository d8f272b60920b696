"""Whether overlays do here what they are for: shown by a guest in one, never by what a call answers."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from sandbox.disk import Overlay, Overlays
from sandbox.spec import Bind, Exit, ExitKind, Limits, Sandbox, SandboxSpec, Stream
from worker.trees.copying import Ownership
from worker.trees.removing import remove_tree

_PLACE = "/cell/ws"
_GUEST = "test -f folder/file && echo more >>kept && rm gone && mv folder moved && echo new >added"
_BEFORE = {"kept": "text\n", "gone": "text\n", "folder/file": "text\n"}
_AFTER = {"kept": "text\nmore\n", "moved/file": "text\n", "added": "new\n"}
_LIMITS = Limits(
    wall_s=20.0,
    memory_bytes=1 << 30,
    processes=16,
    file_size_bytes=1 << 20,
    open_files=64,
    output_bytes=1 << 12,
    tmp_bytes=1 << 20,
)


@dataclass(frozen=True, slots=True)
class Trial:
    """A guest of `slot` in `sandbox`."""

    sandbox: Sandbox
    slot: int

    def problem(self, overlays: Overlays, on: Path, scratch: Path) -> str | None:
        """Say what an overlay, whose changes lie on `on`, does not do; None: it does all. `scratch` is a new place.

        Raises SandboxError and OSError for what can't be tried.
        """
        owner = Ownership(*self.sandbox.owner(self.slot))
        with ExitStack() as undo:
            undo.callback(remove_tree, scratch)
            for path, text in _BEFORE.items():
                (scratch / path).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
                (scratch / path).write_text(text)
            first = overlays.make(scratch, on / f"{scratch.name}-one", (owner.uid, owner.gid))
            _remove_at_the_end(undo, first)
            end = self._run(first.place)
            if (end.kind, end.code) != (ExitKind.EXITED, 0):
                return "a guest could not work in it"
            if _texts(scratch) != _BEFORE:
                return "what a guest changed has reached the folder below"
            if _texts(first.place) != _AFTER:
                return "what a guest changed was not to be seen"
            second = first.over(on / f"{scratch.name}-two")
            _remove_at_the_end(undo, second)
            (second.place / "kept").write_text("other\n")
            if _texts(second.place) != _AFTER | {"kept": "other\n"} or _texts(first.place) != _AFTER:
                return "one over another did not keep them apart"
        return None

    def _run(self, place: Path) -> Exit:
        spec = SandboxSpec(
            argv=("/bin/sh", "-c", _GUEST),
            binds=(Bind(place, _PLACE, writable=True),),
            limits=_LIMITS,
            cwd=_PLACE,
            slot=self.slot,
        )
        return self.sandbox.run(spec, _drop, lambda: False)


def _remove_at_the_end(undo: ExitStack, overlay: Overlay) -> None:
    undo.callback(remove_tree, overlay.layers)
    undo.callback(overlay.remove)


def _texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def _drop(_stream: Stream, _chunk: bytes) -> None:
    pass
