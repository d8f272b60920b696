"""Orders to hosts: take nothing more, or work again."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from farm.model.base import Value


class DrainKind(StrEnum):
    """What a host is to do."""

    DRAIN = "drain"
    """Take nothing more; what runs may finish."""
    NOW = "drain-now"
    """Take nothing more; what runs is stopped, and goes back to the coordinator."""
    UNDRAIN = "undrain"


class DrainOrder(Value):
    """A person's word to every worker of one host. It is obeyed once, whatever clocks say."""

    id: Annotated[str, Field(min_length=1, max_length=64)]
    """Of this order alone: a host that has obeyed it does not obey it again, also when Redis forgot a later one."""
    kind: DrainKind
    by: str
    at: datetime
