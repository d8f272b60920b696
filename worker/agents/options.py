"""What the options of agents with a program of their own have in common."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

ExactVersion = Annotated[str, Field(pattern=r"^[0-9]+\.[0-9]+\.[0-9]+[A-Za-z0-9.+-]{0,40}$")]
"""Of an agent's own program."""
ModelId = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@\[\]-]{0,199}$")]
"""As the provider names it, in full."""
SkillName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")]
"""Without a slash before it, and without the plug-in that it may come from."""


def ensure_known(env: Mapping[str, str], known: frozenset[str]) -> None:
    """Refuse a variable that an arm may not set: the rest decide where an agent's requests, keys and files go."""
    foreign = sorted(set(env) - known)
    if foreign:
        raise ValueError(f"{foreign[0]!r} can't be set here; only {', '.join(sorted(known))} can")
