"""The sweep's budget: what its attempts have used, may have used, and may still use.

What must stay true: what is known, what is unknown at its most, and what is reserved never pass the budget together
when a ticket is sent. So a fleet, of any size, overshoots by no more than its cells pass budgets of their own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

from farm.errors import SpecError
from farm.model import CellBudget, Outcome, SweepBudget

_NOTHING = Decimal(0)
_NO_BOUND = (
    "a budget of {0} bounds nothing while each attempt may use any: the plan has no cell_budget of {0}; "
    "plan the sweep with one"
)


@dataclass(frozen=True, slots=True)
class Spend:
    """What one attempt used at its provider; None: nobody knows."""

    cost_usd: Decimal | None
    tokens: int | None

    @classmethod
    def of(cls, outcome: Outcome | None) -> "Spend":
        """Read what an attempt left; nothing is known of one that left nothing."""
        return cls(None, None) if outcome is None else cls(outcome.cost_usd, outcome.tokens)


@dataclass(frozen=True, slots=True)
class Used:
    """What many attempts used together, in one unit."""

    known: Decimal = _NOTHING
    unknown: int = 0
    """Attempts of which nobody knows."""


@dataclass(frozen=True, slots=True)
class Account:
    """What all attempts used, in one unit: dollars, or tokens."""

    most: Decimal | None = None
    """The sweep's budget; None: not bounded."""
    each: Decimal = _NOTHING
    """An attempt's own budget: what it reserves, and what one that nobody knows counts as."""
    known: Decimal = _NOTHING
    unknown: int = 0
    """Attempts of which nobody knows what they used."""

    @property
    def spent_at_most(self) -> Decimal:
        """What is known, and of what is unknown the most that it can be."""
        return self.known + self.unknown * self.each

    def add(self, amount: Decimal | int | None) -> "Account":
        """Count an attempt."""
        if amount is None:
            return replace(self, unknown=self.unknown + 1)
        return replace(self, known=self.known + amount) if amount else self

    def restore(self, used: Used) -> "Account":
        """Count many attempts."""
        return replace(self, known=self.known + used.known, unknown=self.unknown + used.unknown)

    def has_room(self, reserved: int) -> bool:
        """Say whether one more attempt may be sent beside so many that run."""
        return self.most is None or self.spent_at_most + (reserved + 1) * self.each <= self.most


@dataclass(frozen=True, slots=True)
class Budget:
    """Of the sweep; without accounts that are bounded everything fits."""

    cost: Account = field(default_factory=Account)
    tokens: Account = field(default_factory=Account)
    reserved: Mapping[int, int] = field(default_factory=dict)
    """The attempt of each cell that may be using something now."""

    @classmethod
    def begin(cls, sweep: SweepBudget | None, cell: CellBudget | None) -> "Budget":
        """Begin with nothing spent; raise SpecError where no attempt's budget bounds what the sweep's does."""
        if sweep is None:
            return cls()
        if (sweep.cost_usd is not None) > (cell is not None and cell.cost_usd is not None):
            raise SpecError(_NO_BOUND.format("cost_usd"))
        if (sweep.tokens is not None) > (cell is not None and cell.tokens is not None):
            raise SpecError(_NO_BOUND.format("tokens"))
        each = cell or CellBudget(tokens=1)
        return cls(
            cost=Account(sweep.cost_usd, each.cost_usd or _NOTHING),
            tokens=Account(None if sweep.tokens is None else Decimal(sweep.tokens), Decimal(each.tokens or 0)),
        )

    @property
    def is_bounded(self) -> bool:
        """Say whether there is anything to keep to."""
        return self.cost.most is not None or self.tokens.most is not None

    def may_send(self, *, sent: int) -> bool:
        """Say whether one more attempt may be sent, in a round that has `sent` new ones already."""
        reserved = len(self.reserved) + sent
        return self.cost.has_room(reserved) and self.tokens.has_room(reserved)

    @property
    def is_used_up(self) -> bool:
        """Say whether no further attempt fits, whatever those that run turn out to use."""
        return not (self.cost.has_room(0) and self.tokens.has_room(0))

    def reserve(self, attempts: Mapping[int, int]) -> "Budget":
        """Reserve for attempts, by cell, what each may use; one that is sent again reserves nothing more."""
        return replace(self, reserved={**self.reserved, **attempts}) if attempts and self.is_bounded else self

    def release(self, indices: tuple[int, ...]) -> "Budget":
        """Give back what was reserved for attempts that nobody began."""
        left = {index: attempt for index, attempt in self.reserved.items() if index not in indices}
        return self if len(left) == len(self.reserved) else replace(self, reserved=left)

    def settle(self, index: int, attempt: int, spend: Spend) -> "Budget":
        """Put what an attempt used in the place of what it had reserved; told twice, it counts once."""
        if self.reserved.get(index) != attempt:
            return self
        return self.release((index,)).count(spend)

    def count(self, spend: Spend) -> "Budget":
        """Count what an earlier run's attempt used."""
        return replace(self, cost=self.cost.add(spend.cost_usd), tokens=self.tokens.add(spend.tokens))

    def restore(self, cost: Used, tokens: Used) -> "Budget":
        """Count what many attempts of an earlier run used."""
        return replace(self, cost=self.cost.restore(cost), tokens=self.tokens.restore(tokens))

    @property
    def words(self) -> str:
        """Say in one line how much is used, reserved and unknown; empty without a budget."""
        accounts = ((self.cost, lambda one: f"${one:.2f}"), (self.tokens, lambda one: f"{one:,.0f} tokens"))
        return "; ".join(self._words(account, say) for account, say in accounts if account.most is not None)

    def _words(self, account: Account, say: Callable[[Decimal], str]) -> str:
        parts = [f"{say(account.known)} of {say(account.most or _NOTHING)} used"]
        if account.unknown:
            most = say(account.unknown * account.each)
            parts.append(f"at most {most} more in {account.unknown} attempts that nobody could measure")
        if self.reserved:
            parts.append(f"{say(len(self.reserved) * account.each)} reserved")
        return ", ".join(parts)
