"""What went through a session's door, as the gateway metered it at the provider's side."""

from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from farm.model.base import Value
from farm.model.names import Name
from farm.model.prices import Usd
from farm.model.sums import known_sum
from farm.model.tokens import NO_TOKENS, TokenUse


class Wire(StrEnum):
    """A provider's protocol for asking a model."""

    ANTHROPIC = "anthropic"
    """Anthropic Messages: POST /v1/messages."""
    RESPONSES = "responses"
    """OpenAI Responses: POST /v1/responses."""
    CHAT = "chat"
    """OpenAI Chat Completions: POST /v1/chat/completions."""
    GEMINI = "gemini"
    """Gemini: POST /v1beta/models/<model>:generateContent and :streamGenerateContent."""


class CellBudget(Value):
    """The most that one attempt of a cell may use at its provider, over all its sessions."""

    cost_usd: Annotated[Usd, Field(gt=0)] | None = None
    """By the plan's price table; a model that it does not list can't be asked then."""
    tokens: Annotated[int, Field(gt=0)] | None = None
    """Input and output together."""

    @model_validator(mode="after")
    def _bounds_something(self) -> "CellBudget":
        if self.cost_usd is None and self.tokens is None:
            raise ValueError("a cell budget needs cost_usd or tokens")
        return self


class SweepBudget(Value):
    """The most that all attempts of a sweep may use at their providers, whether or not they count."""

    cost_usd: Annotated[Usd, Field(gt=0)] | None = None
    tokens: Annotated[int, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _bounds_something(self) -> "SweepBudget":
        if self.cost_usd is None and self.tokens is None:
            raise ValueError("a budget needs cost_usd or tokens")
        return self

    def part(self, of: int) -> "SweepBudget":
        """Give one of `of` equal parts."""
        return SweepBudget(
            cost_usd=None if self.cost_usd is None else self.cost_usd / of,
            tokens=None if self.tokens is None else max(1, self.tokens // of),
        )


class RequestEnd(StrEnum):
    """How one request at the door ended."""

    ANSWERED = "answered"
    """Whole, with a status below 400."""
    REFUSED = "refused"
    """By us: a model or a body that is not allowed."""
    NOT_OPEN = "not-open"
    """By us: a path or a query that leads to no model."""
    TOO_LARGE = "too-large"
    """By us: more bytes than may pass."""
    OVER_BUDGET = "over-budget"
    """By us, before it was sent: it might have passed the cell's budget."""
    RATE_LIMITED = "rate-limited"
    """429."""
    UNAVAILABLE = "unavailable"
    """5xx, 529 included, or no connection."""
    DENIED = "denied"
    """The provider does not serve this host: its key, its account, its URL, or a pinned model that it does not have."""
    REJECTED = "rejected"
    """Any other status from 400: the provider did not like the request."""
    STALLED = "stalled"
    """The provider went silent for longer than the gateway waits."""
    CUT = "cut"
    """The answer's connection broke."""
    MALFORMED = "malformed"
    """The answer was whole and not what its wire says."""
    CLIENT_GONE = "client-gone"
    """The agent hung up first, or did not send what it began."""
    SLOW_READER = "slow-reader"
    """The agent did not take its answer in time."""


class ModelUse(Value):
    """What was asked of one model."""

    model: str
    """As the requests named it."""
    requests: int
    """Those that reached the provider."""
    tokens: TokenUse
    """Their sum; unknown where that of one request is."""
    cost_usd: Decimal | None = None
    """By the plan's price table; None without one, or where a number is unknown."""


class DoorReport(Value):
    """The door of one session."""

    provider: Name
    origin: str
    """Scheme, host and port of the provider as this host reaches it."""
    ends: dict[RequestEnd, int] = {}
    """How many requests ended in which way; what is left out did not happen."""
    models: tuple[ModelUse, ...] = ()
    """By name."""
    is_priced: bool = False
    """Whether the plan has a price table: then what it says is the cost, and nothing else is."""
    unmeasured: int = 0
    """Requests that reached the provider and whose usage is not, or not all, known."""
    last_failure: RequestEnd | None = None
    """How the last request ended, when it was not answered."""
    last_failure_status: int | None = None
    """The HTTP status that it had from the provider; None: none."""
    last_failure_detail: str | None = None
    """Its status and the beginning of its message, one line."""
    retry_after_s: float | None = None
    """What the provider last asked us to wait, with a failure."""

    @property
    def tokens(self) -> TokenUse:
        """The sum over the models."""
        total = NO_TOKENS
        for one in self.models:
            total = total.plus(one.tokens)
        return total

    @property
    def cost_usd(self) -> Decimal | None:
        """The sum over the models; None when that of one is unknown."""
        return known_sum(one.cost_usd for one in self.models) if self.models else Decimal(0)
