"""One request at the door, from its head to its end, and the record of it in the usage log."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

from farm.errors import IntegrityError
from farm.model import NO_TOKENS, RequestEnd, TokenUse, Value, Wire, normalise
from worker.gateway.asking import Asked
from worker.gateway.headers import Header
from worker.gateway.meters import SHAPES, Seen
from worker.gateway.purse import Hold
from worker.gateway.routes import Route

_REFUSAL = 300
"""From this status on, an answer is no model's: it used nothing, unless it says so."""


@dataclass(slots=True, eq=False)
class Exchange:
    """What is known of a request so far."""

    method: str
    path: str
    """Without the query."""
    started_at: datetime
    wire: Wire | None = None
    """None: it asked no model."""
    asked: Asked | None = None
    hold: Hold | None = None
    held_bytes: int = 0
    """Of its body, in our memory."""
    was_sent: bool = False
    """The provider may have seen it."""
    status: int | None = None
    retry_after_s: float | None = None
    waits_since: float | None = None
    """From when on the provider has been silent, on the monotonic clock; None: it is not its turn."""
    seen: Seen = field(default_factory=Seen)
    detail: str | None = None
    is_slow: bool = False
    """The agent did not read its answer."""
    is_over: bool = False

    def measured(self) -> "Measured":
        """Say what it used, as far as the provider said its last word about it."""
        if not self.was_sent:
            return Measured(NO_TOKENS, is_final=True)
        if self.wire is None or self.seen.usage is None:
            is_refusal = self.status is not None and self.status >= _REFUSAL
            return Measured(NO_TOKENS if is_refusal else TokenUse(), is_final=is_refusal)
        try:
            return Measured(normalise(SHAPES[self.wire], self.seen.usage), is_final=self.seen.is_final)
        except IntegrityError as error:
            return Measured(TokenUse(), is_final=False, problem=str(error))


@dataclass(frozen=True, slots=True)
class Errand:
    """A request that may be sent."""

    route: Route
    asked: Asked
    headers: list[Header]
    exchange: Exchange


@dataclass(frozen=True, slots=True)
class Measured:
    """What a request used, or the part of it that was seen."""

    tokens: TokenUse
    is_final: bool
    problem: str | None = None

    @property
    def known(self) -> TokenUse:
        """What may be counted."""
        return self.tokens if self.is_final else TokenUse()


class RequestRecord(Value):
    """One line of the usage log."""

    started_at: datetime
    ended_at: datetime
    method: str
    path: str
    wire: Wire | None
    end: RequestEnd
    status: int | None
    """The provider's, or ours where `was_sent` is false."""
    was_sent: bool
    model_asked: str | None
    model_answered: str | None
    response_id: str | None
    native_usage: tuple[dict[str, JsonValue], ...]
    """Verbatim; of an Anthropic stream, its start's and its last delta's."""
    is_final: bool
    """The usage is the provider's last word, and can be counted."""
    tokens: TokenUse
    """The same in the normal form; of usage that is not final, what was seen."""
    cost_usd: Decimal | None
    retry_after_s: float | None
    detail: str | None
