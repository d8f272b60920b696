"""A session's two doors where its provider speaks another wire: the agent's, and behind LiteLLM the provider's.

The agent's says how its requests ended; the provider's says what they used and why they failed, in the provider's own
words: LiteLLM makes numbers and errors of its own out of them, and those count for nothing.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from farm.model import DoorReport, RequestEnd, Wire
from worker.gateway import Gateway, OnPressure, OpenDoor, Pass, Purse, Upstream
from worker.translator import SPOKEN, UNDERSTOOD, Translator

_AGENTS_OWN = {None, RequestEnd.REFUSED, RequestEnd.TOO_LARGE}
_BROKEN = {RequestEnd.UNAVAILABLE, RequestEnd.CUT, RequestEnd.MALFORMED}


@dataclass(frozen=True, slots=True)
class TwoDoors:
    """What goes through the two; complete when their block has ended."""

    agents: OpenDoor
    providers: OpenDoor
    translator: Translator

    def report(self) -> DoorReport:
        """Sum up; raise TransientError when LiteLLM died on the session."""
        agents, providers = self.agents.report(), self.providers.report()
        if agents.last_failure in _BROKEN and providers.last_failure in {None, RequestEnd.CLIENT_GONE}:
            self.translator.ensure_alive()
        return as_one(agents, providers)

    def log(self) -> bytes:
        """Give the usage log of the provider's door."""
        return self.providers.log()


@dataclass(frozen=True, slots=True)
class Translation:
    """Opens pairs of doors."""

    gateway: Gateway
    translator: Translator
    must_stop: Callable[[], bool]
    on_pressure: OnPressure

    @contextmanager
    def open(self, place: Path, owner: tuple[int, int], pass_: Pass, hidden: Path) -> Iterator[TwoDoors]:
        """Open the agent's door at `place` and the provider's at `hidden`; raise TransientError without LiteLLM."""
        upstream = pass_.upstream
        wire = next(wire for wire in UNDERSTOOD if wire in upstream.wires)
        behind = replace(pass_, upstream=replace(upstream, wires=frozenset({wire})))
        us = (os.geteuid(), os.getegid())
        with self.gateway.open(hidden, us, behind, self.on_pressure) as providers:
            found = self.translator.address(wire, hidden, self.must_stop)
            before = Pass(
                Upstream(upstream.name, frozenset({SPOKEN}), found.url, found.key), pass_.models, Purse(None, None)
            )
            with self.gateway.open(place, owner, before) as agents:
                yield TwoDoors(agents, providers, self.translator)


def can_translate(wire: Wire, upstream: Upstream) -> bool:
    """Say whether agents may speak `wire` to a provider that does not."""
    return wire in upstream.translated and any(spoken in upstream.wires for spoken in UNDERSTOOD)


def as_one(agents: DoorReport, providers: DoorReport) -> DoorReport:
    """Make one report of both doors'."""
    ends = Counter(agents.ends)
    over = min(providers.ends.get(RequestEnd.OVER_BUDGET, 0), ends[RequestEnd.REJECTED])  # behind LiteLLM, a rejection
    ends.update({RequestEnd.OVER_BUDGET: over, RequestEnd.REJECTED: -over})
    told = agents if agents.last_failure in _AGENTS_OWN or providers.last_failure is None else providers
    return providers.model_copy(
        update={
            "ends": {end: count for end, count in ends.items() if count},
            "last_failure": told.last_failure,
            "last_failure_status": told.last_failure_status,
            "last_failure_detail": told.last_failure_detail,
            "retry_after_s": told.retry_after_s,
        }
    )
