"""One attempt's money and tokens: a request is reserved before it is sent and settled when it has ended.

What must stay true: what is settled and what is reserved never pass the budget together, as far as a reservation is
an upper bound of what its request uses (ops/adr/0017).
"""

from dataclasses import dataclass
from decimal import Decimal
from threading import Lock

from farm.model import CellBudget, Price, PriceTable, TokenUse

UNSTATED_OUTPUT = 32_000
"""The tokens of output that are reserved for a request that states no bound of its own."""
_FIRST_RATE = 0.5
"""Tokens a byte of a request's body, before any was measured: two to three times what text and code are."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What can be said about a request's cost before it is sent."""

    model: str
    body_bytes: int
    """Decompressed."""
    most_output: int | None
    """As the request states it."""
    unbounded: str | None = None
    """The key by which it may cost more than can be said."""


@dataclass(frozen=True, slots=True)
class Hold:
    """What a request may use, until it is settled."""

    bound: Bound
    tokens: int
    cost_usd: Decimal


@dataclass(frozen=True, slots=True)
class OverBudget:
    """Why a request may not be sent."""

    reason: str


class Purse:
    """One attempt's budget over all its sessions; safe to use from several threads."""

    def __init__(self, budget: CellBudget | None, prices: PriceTable | None) -> None:
        self._budget = budget
        self._prices = prices.models if prices is not None else {}
        self.is_priced = prices is not None
        self._lock = Lock()  # guards all that follows
        self._tokens = 0
        self._cost_usd = Decimal(0)
        self._rate = _FIRST_RATE

    def cost(self, model: str, use: TokenUse) -> Decimal | None:
        """Price what a request used; None when the model or a number is unknown."""
        price = self._prices.get(model)
        return price.cost(use) if price is not None else None

    def reserve(self, bound: Bound) -> Hold | OverBudget:
        """Take an upper bound of what a request may use out of the budget, or say why not."""
        with self._lock:
            hold = self._hold(bound)
            reason = self._reason(hold)
            if reason is not None:
                return OverBudget(reason)
            self._tokens += hold.tokens
            self._cost_usd += hold.cost_usd
            return hold

    def release(self, hold: Hold) -> None:
        """Give all of it back: the request used nothing."""
        self._replace(hold, 0, Decimal(0))

    def settle(self, hold: Hold, use: TokenUse, cost: Decimal | None) -> None:
        """Put what was measured in the place of what was reserved; each number that is unknown stays reserved."""
        self._replace(hold, hold.tokens if use.total is None else use.total, hold.cost_usd if cost is None else cost)
        if use.whole is not None and hold.bound.body_bytes:
            with self._lock:
                self._rate = max(self._rate, use.whole / hold.bound.body_bytes)

    def settle_unmeasured(self, hold: Hold, seen: TokenUse) -> None:
        """Keep what was reserved, or what was seen when that is more: it was not the last word."""
        cost = self.cost(hold.bound.model, seen)
        self._replace(hold, max(hold.tokens, seen.total or 0), max(hold.cost_usd, cost or Decimal(0)))

    def _replace(self, hold: Hold, tokens: int, cost_usd: Decimal) -> None:
        with self._lock:
            self._tokens += tokens - hold.tokens
            self._cost_usd += cost_usd - hold.cost_usd

    def _hold(self, bound: Bound) -> Hold:
        if self._budget is None:
            return Hold(bound, 0, Decimal(0))
        most_input = int(bound.body_bytes * self._rate) + 1
        output = UNSTATED_OUTPUT if bound.most_output is None else bound.most_output
        price = self._prices.get(bound.model)
        cost_usd = _dearest(price, most_input, output) if price is not None else Decimal(0)
        return Hold(bound, most_input + output, cost_usd)

    def _reason(self, hold: Hold) -> str | None:
        budget, model = self._budget, hold.bound.model
        reason = None
        if budget is None:
            pass
        elif hold.bound.unbounded is not None:
            reason = f"the cell has a budget, and what {hold.bound.unbounded!r} costs can't be bounded: leave it out"
        elif budget.tokens is not None and self._tokens + hold.tokens > budget.tokens:
            reason = (
                f"the cell's budget is {budget.tokens} tokens: {self._tokens} are used or reserved,"
                f" and this request may use {hold.tokens}"
            )
        elif budget.cost_usd is not None and model not in self._prices:
            reason = f"the cell has a budget of {budget.cost_usd} USD, and the price of {model!r} is not known"
        elif budget.cost_usd is not None and self._cost_usd + hold.cost_usd > budget.cost_usd:
            reason = (
                f"the cell's budget is {budget.cost_usd} USD: {self._cost_usd} are used or reserved,"
                f" and this request may cost {hold.cost_usd}"
            )
        return reason


def _dearest(price: Price, most_input: int, output: int) -> Decimal:
    """Price each token of the input as the dearest kind of input."""
    kinds = (
        TokenUse(ordinary_input=most_input, cache_read=0, cache_write=0, cache_write_1h=0, output=output),
        TokenUse(ordinary_input=0, cache_read=most_input, cache_write=0, cache_write_1h=0, output=output),
        TokenUse(ordinary_input=0, cache_read=0, cache_write=most_input, cache_write_1h=0, output=output),
        TokenUse(ordinary_input=0, cache_read=0, cache_write=most_input, cache_write_1h=most_input, output=output),
    )
    return max(cost for cost in map(price.cost, kinds) if cost is not None)
