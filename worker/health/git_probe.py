"""Whether this host's git serves: without it no workspace is made, and no patch."""

import re
from collections.abc import Mapping
from pathlib import Path

from sandbox.spec import Probe
from worker.trees.errors import TreeError
from worker.trees.git import Git

_OLDEST = (2, 32)
"""The first that GIT_CONFIG_GLOBAL keeps from its user's settings."""
_FIX = f"install git {'.'.join(map(str, _OLDEST))} or later (on Debian and Ubuntu: apt-get install git)"


def git_probe(env: Mapping[str, str] | None = None) -> Probe:
    """Ask git for its version, in the environment in which cells use it; `env` replaces parts of that."""
    try:
        said = Git(Path("/"), env=env or {}).read("--version", most_bytes=200).decode(errors="replace").strip()
    except FileNotFoundError:
        return Probe("git", ok=False, detail="not found", fix=_FIX)
    except (TreeError, OSError) as error:
        return Probe("git", ok=False, detail=str(error), fix=_FIX)
    found = re.search(r"(\d+)\.(\d+)", said)
    is_new = found is not None and (int(found[1]), int(found[2])) >= _OLDEST
    return Probe("git", ok=is_new, detail=said if is_new else f"{said!r} is too old", fix="" if is_new else _FIX)
