"""Read a table of expected durations.

tasks:
  fix-parser: {baseline: 310, candidate: 280}   # seconds within which nine in ten cells' sessions end
"""

from pathlib import Path
from typing import Annotated

from pydantic import Field

from farm.model import Name, Seconds, Value
from farm.planning.table_file import read_table


class Durations(Value):
    """Seconds by task and arm; what is not listed is not known."""

    tasks: Annotated[dict[Name, dict[Name, Seconds]], Field(min_length=1)]


def read_durations(path: Path) -> Durations:
    """Read the table at `path`; raise SpecError naming the file, the line and the field."""
    return read_table(path, Durations, "the table of durations")
