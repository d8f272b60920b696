"""Where a result was measured that a later sweep takes over instead of paying for it again."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from farm.model.base import Value
from farm.model.digest import Digest
from farm.model.names import SweepId


class Origin(Value):
    """The first measurement, through however many sweeps it was taken over."""

    sweep: SweepId
    attempt: Annotated[int, Field(ge=1)]
    outcome: Digest
    """Of the bytes of that attempt's outcome.json, which every store that takes it over keeps as a blob."""
    measured_at: datetime
    """When that attempt ended: from here its age counts."""
