"""MCP servers of an arm: programs in its assets, that an agent starts in the session's server room.

They are named in the agent's options and pinned by digest. No other server is started, and none outside the room.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from farm.model import Name, Value
from sandbox.spec import SERVER
from worker.session import asset_path

ToolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
"""As the server lists it."""
EnvName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]

MOST_SERVERS = 16
_ASSET = "{asset}"
_EXPANDED = "${"


class McpServer(Value):
    """One server."""

    asset: Name
    """The arm's asset that holds its program."""
    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    """`{asset}` stands for the asset's folder."""
    env: dict[EnvName, str] = {}
    """What it finds in its environment beside HOME, LANG, PATH, PWD, TMPDIR and USER. The plan shows it: no secrets."""
    tools: tuple[ToolName, ...] | None = None
    """Those of its tools that the agent may use; None: all of them."""

    @model_validator(mode="after")
    def _starts_what_is_pinned(self) -> Self:
        if not any(_ASSET in word for word in self.argv):
            raise ValueError(f"argv names nothing in the asset; write {_ASSET!r} where its folder is meant")
        if "=" in self.argv[0]:
            raise ValueError(f"the program {self.argv[0]!r} holds a '='")
        for word in (*self.argv, *self.env.values()):
            if _EXPANDED in word:
                raise ValueError(f"{word!r} holds {_EXPANDED!r}, which an agent fills from its own environment")
        return self

    @property
    def command(self) -> tuple[str, ...]:
        """Give the words by which the agent starts it."""
        place = asset_path(self.asset)
        env = ("env", *(f"{name}={value}" for name, value in self.env.items())) if self.env else ()
        return (SERVER, *env, *(word.replace(_ASSET, place) for word in self.argv))
