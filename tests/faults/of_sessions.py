"""Faults 36 to 40: what sessions do to their host. It is their arm's answer, and costs no attempt."""

from collections.abc import Callable

from farm.model import Outcome
from tests.faults.fault import Fault, Struck
from tests.faults.of_redis import begun, costs_no_attempt
from tests.faults.sweep import Script, Shape, Sweep

MIB = 1 << 20
MARK = Shape("undying").mark


def ends_as(expected: Callable[[Outcome], bool]) -> Callable[[Sweep], Struck]:
    """Let the odd cells' sessions end in their own way, which their outcomes tell."""

    def strike(sweep: Sweep) -> Struck:
        struck = begun(sweep)
        costs_no_attempt(sweep)
        sweep.wait("its sessions' processes are gone", lambda: sweep.sleepers() == [], 2)
        outcomes = sweep.all_outcomes()
        for cell in sweep.odd_cells():
            (outcome,) = outcomes[cell].values()
            assert expected(outcome), outcome
        return struck

    return strike


def _limit(outcome: Outcome) -> str | None:
    assert outcome.evidence is not None
    return outcome.evidence.sessions[0].exit.limit


def writes(*script: dict[str, object]) -> Script:
    return [*script, {"write": {"path": "nap.txt", "text": "done\n"}}, {"answer": {"text": "done"}}]


def run(command: str) -> dict[str, object]:
    return {"run": {"command": command}}


EATER = Shape("eater", odd=writes(run("tail /dev/zero")), odd_limits={"memory_bytes": 48 * MIB, "wall_s": 20})
BOMB = Shape("bomb", odd=writes(run("f() { f | f & }; f; sleep 0.5")), odd_limits={"processes": 40, "wall_s": 3})
UNDYING = Shape(
    "undying",
    odd=writes(
        {"spawn": {"command": f"trap '' TERM HUP INT; sleep 999{MARK}; sleep 998{MARK}"}},
        run(f"(setsid sh -c 'trap \"\" TERM; sleep 997{MARK}' &) ; trap '' TERM INT HUP; sleep 996{MARK}"),
    ),
    odd_limits={"wall_s": 1.5},
)
FLOOD = Shape("flood", odd=writes({"flood": {"bytes": 60 * MIB}}), odd_limits={"output_bytes": MIB, "wall_s": 20})
GIANT = Shape(
    "giant", odd=writes(run("head -c 300000000 /dev/zero > big")), odd_limits={"file_size_bytes": 8 * MIB, "wall_s": 20}
)
TAMPERER = Shape(
    "tamperer",
    odd=[
        {"spawn": {"command": "while :; do echo done > nap.txt; echo $RANDOM > other.txt; done"}},
        run("sleep 0.2"),
        {"answer": {"text": "done"}},
    ],
    odd_limits={"wall_s": 20},
)

FAULTS = (
    Fault(36, "session-eats-memory", ends_as(lambda one: _limit(one) == "memory" or one.is_usable), EATER),
    Fault(37, "session-is-a-fork-bomb", ends_as(lambda one: one.is_usable), BOMB),
    Fault(38, "session-does-not-die", ends_as(lambda one: _limit(one) == "wall"), UNDYING),
    Fault(39, "session-floods-its-output", ends_as(lambda one: _limit(one) == "output"), FLOOD),
    Fault(39, "session-writes-a-giant-file", ends_as(lambda one: one.is_usable), GIANT),
    Fault(40, "session-writes-after-its-end", ends_as(lambda one: one.is_usable), TAMPERER),
)
