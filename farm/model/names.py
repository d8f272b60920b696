"""Names and ids: what may stand in a path, an object key and a Redis key without quoting.

Ids are derived from what they name, never random: the same plan gives the same ids on any machine.
"""

from typing import Annotated, Literal, NewType

from pydantic import AfterValidator, StringConstraints

from farm.model.digest import Digest

NAME_PATTERN = r"^[a-z0-9][a-z0-9-]*$"

Name = Annotated[str, StringConstraints(pattern=NAME_PATTERN, max_length=64)]
"""A person's name for a task, an arm, a sweep: lower-case letters, digits and dashes."""

LABEL = r"[a-z0-9][a-z0-9._=-]{0,62}"
Label = Annotated[str, StringConstraints(pattern=rf"^{LABEL}$")]
"""What a host is called by whoever runs it, and required as by an arm: gpu, zone=eu, arch=x86_64."""

SweepId = NewType("SweepId", str)
"""`<name>-<12 hex of the plan's digest>.<edition>`: the folder of one sweep in the store."""

CellId = NewType("CellId", str)
"""`<task>.<arm>.<trial>`: unique within a sweep."""

PluginGroup = Literal["agents", "programs", "oracles", "gates", "sandboxes", "stores"]
"""What plug-ins are found by, beside their name."""


def sweep_id(name: str, plan: Digest, edition: int) -> SweepId:
    """Name the `edition`-th run (from 1) of the plan with digest `plan`."""
    return SweepId(f"{name}-{plan[:12]}.{edition}")


def cell_id(task: str, arm: str, trial: int) -> CellId:
    """Name the cell (task, arm, trial)."""
    return CellId(f"{task}.{arm}.{trial}")


def _relative(text: str) -> str:
    parts = text.split("/")
    if not text or text.startswith("/") or ".." in parts or "\0" in text or "\\" in text:
        raise ValueError(f"{text!r} is not a relative path inside the workspace; drop '..' and the leading '/'")
    return text


RelativePath = Annotated[str, StringConstraints(max_length=1024), AfterValidator(_relative)]
"""A path or glob below a root: no leading slash, no '..'."""


_MOST_NAME_BYTES = 255


def _plain(text: str) -> str:
    parts = text.split("/")
    if any(part in {"", "."} or part.lower() == ".git" for part in parts):
        raise ValueError(f"{text!r} is not a plain path inside the workspace; drop '.', '//', a final '/' and any .git")
    for part in parts:
        if len(part.encode()) > _MOST_NAME_BYTES:
            raise ValueError(f"{part[:40]!r}… is a name of more than {_MOST_NAME_BYTES} bytes, which no disk holds")
    return text


PlainPath = Annotated[RelativePath, AfterValidator(_plain)]
"""One path below a root, in the one way to write it, in no repository's own folder."""
