"""The holds: a provider that does not answer gets no new cells for a while, longer each time, until a cell succeeds.

So an outage costs each cell few attempts, and the breaker meets it only when it lasts.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

_FIRST_S = 1.0
_MOST_S = 60.0
_MOST_LEVEL = 7
"""From here on the delay no longer grows."""
_FIRST_PROBING = 2


@dataclass(frozen=True, slots=True)
class Hold:
    """One provider's."""

    number: int
    """Only grows, so that the end of an earlier hold is not taken for the end of this one."""
    level: int
    """Holds since the last success; 0: none."""
    delay_s: float
    is_on: bool


_NONE = Hold(number=0, level=0, delay_s=0.0, is_on=False)


@dataclass(frozen=True, slots=True)
class Holds:
    """Every provider's."""

    providers: tuple[str | None, ...] = ()
    """Each cell's, in plan order; empty: no cell has one."""
    known: Mapping[str, Hold] = field(default_factory=dict)

    def provider(self, index: int) -> str | None:
        """Name the cell's provider."""
        return self.providers[index] if self.providers else None

    @property
    def on(self) -> frozenset[str]:
        """Name the providers whose cells wait."""
        return frozenset(name for name, hold in self.known.items() if hold.is_on)

    @property
    def probing(self) -> frozenset[str]:
        """Name the providers that failed again after a hold: one cell at a time finds out whether they are back."""
        return frozenset(name for name, hold in self.known.items() if hold.level >= _FIRST_PROBING)

    def press(self, provider: str, retry_after_s: float | None) -> "Holds":
        """Begin a hold; one that is on only grows to what the provider asks for."""
        hold, asked_s = self.known.get(provider, _NONE), retry_after_s or 0.0
        if hold.is_on and asked_s <= hold.delay_s:
            return self  # told by sessions that were under way: it says nothing new
        level = hold.level if hold.is_on else min(hold.level + 1, _MOST_LEVEL)
        delay_s = max(min(_FIRST_S * 2.0 ** (level - 1), _MOST_S), asked_s)
        return self._with(provider, Hold(hold.number + 1, level, delay_s, is_on=True))

    def relieve(self, provider: str) -> "Holds":
        """End the hold: the provider has answered."""
        hold = self.known.get(provider, _NONE)
        return self if hold.level == 0 else self._with(provider, replace(_NONE, number=hold.number))

    def over(self, provider: str, number: int) -> "Holds":
        """Let its cells go on."""
        hold = self.known.get(provider, _NONE)
        return self._with(provider, replace(hold, is_on=False)) if hold.is_on and hold.number == number else self

    def _with(self, provider: str, hold: Hold) -> "Holds":
        return replace(self, known={**self.known, provider: hold})


class Turnstile:
    """Says of one round of tickets which cells may go."""

    def __init__(self, holds: Holds, outstanding: Counter[str | None], most: Mapping[str, int]) -> None:
        self._holds = holds
        self._outstanding = outstanding
        self._most = dict(most) | dict.fromkeys(holds.probing, 1) | dict.fromkeys(holds.on, 0)

    def admits(self, index: int) -> bool:
        """Say whether the cell may be sent, and count on it that it is."""
        provider = self._holds.provider(index)
        if provider is None or provider not in self._most:
            return True
        if self._outstanding[provider] >= self._most[provider]:
            return False
        self._outstanding[provider] += 1
        return True
