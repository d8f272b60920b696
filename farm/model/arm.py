"""Arms: ways of running a coding agent, frozen."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.guidance import Guidance
from farm.model.names import Name, RelativePath

MOST_ASSETS = 16


class ArmRole(StrEnum):
    """What an arm is compared as."""

    INCUMBENT = "incumbent"
    CANDIDATE = "candidate"
    COMPARATOR = "comparator"
    CONTROL = "control"


class Pin(Value):
    """A plug-in at an exact version with its checked options."""

    name: Name
    version: str
    options: dict[str, JsonValue] = {}


class Overlay(Value):
    """What an arm adds: files laid over the workspace within a boundary, instruction text, or both."""

    files: Digest | None = None
    """A tar blob of the files."""
    boundary: tuple[RelativePath, ...] = ()
    """Globs that every overlaid path must match."""
    instructions: Digest | None = None
    """The resolved text, inherited text first, appended to the agent's own instructions."""
    guidance: Guidance | None = None
    """What is taken out of the workspace's instruction files, those of `files` among them."""


class Arm(Value):
    """One treatment: agent, session program, overlay."""

    name: Name
    role: ArmRole
    incumbent: Name | None = None
    """The arm that it is set against, where the sweep has several incumbents."""
    agent: Pin
    program: Pin
    sessions: Annotated[int, Field(ge=1)] = 1
    """How many the program runs at most, one after the other."""
    provider: Name | None = None
    """Whom the agent asks for a model, through the cell's door; None: it has no door."""
    requires: tuple[str, ...] = ()
    """What a host must offer besides the sandbox: its provider, its agent's own program at a version."""
    overlay: Overlay | None = None
    assets: Annotated[dict[Name, Digest], Field(max_length=MOST_ASSETS)] = {}
    """Tar blobs of folders that its sessions see read-only, by name."""
    plugins: dict[Name, str] = {}
    """The versions of those assets that are plug-ins of its agent."""

    def is_like(self, other: "Arm") -> bool:
        """Say whether it does the same to a cell, whatever it is called and compared as."""
        called = {"name": other.name, "role": other.role, "incumbent": other.incumbent}
        return self.model_copy(update=called) == other
