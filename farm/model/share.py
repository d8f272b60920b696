"""What a sweep claims of a fleet that it shares with others."""

from typing import Annotated

from pydantic import Field

from farm.model.base import Value
from farm.model.names import Name


class ShareClaim(Value):
    """One coordinator's, as it last said; the others say theirs, and each works out the same shares."""

    sweep: str
    """The sweep, and its shard where it has some: unique among the coordinators of one Redis."""
    weight: Annotated[float, Field(gt=0)]
    priority: int
    demand: Annotated[int, Field(ge=0)]
    """How many slots it could use now."""
    waited_s: Annotated[float, Field(ge=0)]
    """For how long it has had cells to send and none under way."""
    providers: tuple[Name, ...] = ()
    """Whom its arms ask."""
    needs: tuple[tuple[str, ...], ...] = ()
    """What hosts must offer for its cells, for each of its queues; (): any host will do."""
    budget: str = ""
    """For people: how much of its budget is used."""
