"""The protocol under whatever a network and its processes may do: no history breaks a law, and broken farms do.

`python ops/bench/histories.py` plays a million.
"""

import pytest

from farm.model import FaultKind, Outcome, parse_record
from tests.builders.protocol.history import Bug, History, Kind, Trouble, play, shrink

_AT_ONCE = 2500
_ALL = 20_000
_ENOUGH_FOR_A_BUG = 2000


def explain(history: History) -> str:
    """Tell the smallest history that still breaks a law, and which."""
    small = shrink(history, lambda smaller: bool(play(smaller).violations))
    return f"{small}\n{play(small).told}"


@pytest.mark.parametrize("first", range(0, _ALL, _AT_ONCE))
def test_no_history_breaks_a_law(first: int) -> None:
    for seed in range(first, first + _AT_ONCE):
        history = History.drawn(seed)
        assert not play(history).violations, explain(history)


@pytest.mark.parametrize("seed", [30_628, 188_757, 312_120])
def test_a_history_that_once_broke_a_law_keeps_it(seed: int) -> None:
    """A finalizer had settled; a coordinator that had not seen it made a result of an outcome that says it is late."""
    history = History.drawn(seed)
    assert not play(history).violations, explain(history)


@pytest.mark.parametrize(
    ("bug", "invariant"), [(Bug.NO_FENCE, "I5"), (Bug.CLEANS_FIRST, "I7"), (Bug.BLIND_REAPER, "I3")]
)
def test_a_farm_with_this_bug_is_found_out(bug: Bug, invariant: str) -> None:
    def fails(history: History) -> bool:
        return any(one.invariant == invariant for one in play(history, bug).violations)

    found = next(filter(fails, map(History.drawn, range(_ENOUGH_FOR_A_BUG))), None)
    assert found is not None
    small = shrink(found, fails)
    assert fails(small)
    assert len(small.trouble) <= len(found.trouble)


def test_a_blind_reaper_also_runs_again_what_was_measured() -> None:
    histories = map(History.drawn, range(_ENOUGH_FOR_A_BUG))
    assert any(
        one.invariant in {"I1", "I2", "I5"} for each in histories for one in play(each, Bug.BLIND_REAPER).violations
    )


def test_a_history_played_again_goes_the_same_way() -> None:
    for seed in range(30):
        assert play(History.drawn(seed)) == play(History.drawn(seed))


def test_the_histories_go_where_it_is_dangerous() -> None:
    ends, kinds, late, most_lives = set[str](), set[FaultKind](), 0, 0
    for seed in range(800):
        played = play(History.drawn(seed))
        most_lives = max(most_lives, played.coordinators)
        for key, body in played.bodies.items():
            if key.endswith("close.json"):
                ends.add(body.split(b'"reason":"')[1].split(b'"')[0].decode())
            elif key.endswith("outcome.json"):
                outcome = parse_record(Outcome, body, key)
                late += outcome.late
                kinds |= set() if outcome.fault is None else {outcome.fault.kind}
    assert {"complete", "cancelled", "unfinished", "breaker"} <= ends
    assert {FaultKind.LOST, FaultKind.CANCELLED, FaultKind.HOST} <= kinds
    assert late > 0
    assert most_lives > 3


def test_a_failing_history_is_shrunk_to_what_matters() -> None:
    trouble = tuple(Trouble(kind, 1.0) for kind in Kind)
    history = History(seed=1, cells=4, workers=3, loss=0.1, deaths=3, trouble=trouble)

    def fails(one: History) -> bool:
        return one.cells >= 2 and any(each.kind is Kind.WIPE for each in one.trouble)

    assert shrink(history, fails) == History(seed=1, cells=2, workers=1, trouble=(Trouble(Kind.WIPE, 1.0),))
