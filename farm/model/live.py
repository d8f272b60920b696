"""What a running session says of itself, for a person who watches. It may be lost, and nothing is decided by it."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from farm.model.base import Value
from farm.model.names import CellId

MOST_PREVIEW = 200

Preview = Annotated[str, Field(max_length=MOST_PREVIEW)]


class LiveNote(Value):
    """How far one session is."""

    cell: CellId
    attempt: int
    host: str
    session: str
    started_at: datetime
    """The session's start."""
    turns: int | None = None
    """None: this agent does not say before its end."""
    tool_calls: int | None = None
    preview: Preview = ""
    """The beginning of what it last said or did: a guest's text, without secrets; show it escaped."""
