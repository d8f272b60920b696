"""The breaker: a run of unusable results in plan order ends the sweep; the suspicion of one pauses it.

What must stay true: the trip depends on the results in plan order alone, never on when they came. The pause may come
and go with timing; it only holds tickets back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from farm.coordinator.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The last results are all unusable: a trip, unless a cell between them turns out usable."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Breaker:
    """The fold's state."""

    streak: int
    """Unusable results in a row that trip; 0 turns the breaker off."""
    run: int = 0
    """Unusable results in a row just below the fold."""
    tripped_at: int | None = None
    suspicion: Suspicion | None = None

    def fold(self, first: int, ends: Iterable[bool | None]) -> "Breaker":
        """Fold the cells from `first` on: usable, unusable, or put aside (None: as if it were not there)."""
        run = self.run
        for index, is_usable in enumerate(ends, first):
            if is_usable is None:
                continue
            run = 0 if is_usable else run + 1
            if self.streak and run >= self.streak:
                return replace(self, run=run, tripped_at=index, suspicion=None)
        return self if run == self.run else replace(self, run=run)

    def suspect(self, ledger: Ledger, index: int, *, is_usable: bool) -> "Breaker":
        """Drop a suspicion that the new result of `index` refutes; raise one that the last results give.

        The fold cannot pass a suspicion's last cell without a usable one on the way, or a trip.
        """
        standing = self.suspicion
        if standing is not None and is_usable and standing.first <= index <= standing.last:
            standing = None
        if standing is None and self.streak:
            standing = self._raised(ledger)
        return self if standing == self.suspicion else replace(self, suspicion=standing)

    def _raised(self, ledger: Ledger) -> Suspicion | None:
        last = lowest = None
        count = 0
        for index in ledger.last_results():
            if not ledger.is_unusable(index):
                return None
            last = index if last is None else last
            lowest, count = index, count + 1
            if count == self.streak:
                break
        if last is None or lowest is None or (count < self.streak and count + self.run < self.streak):
            return None
        return Suspicion(first=lowest if count == self.streak else ledger.fold, last=last)
