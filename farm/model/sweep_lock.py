"""The lock of a sweep: all that decides what it will say, fixed before anything is paid.

Digests of what is long, values of what is short, so that who reads a lock sees what was promised, and so that each
difference has a name.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, JsonValue

from farm.model.arm import Pin
from farm.model.base import Value
from farm.model.canonical import canonical_json
from farm.model.digest import Digest
from farm.model.door import CellBudget, SweepBudget
from farm.model.limits import Seconds
from farm.model.names import Name
from farm.model.plan import Plan
from farm.model.policy import BreakerPolicy, RetryPolicy
from farm.model.task import Task
from farm.model.time_window import WindowText

_ELSEWHERE = frozenset(
    {"schema_version", "farm_version", "tasks", "arms", "gates", "trials", "cells", "reused", "preregistration"}
)
_SHORT = 12
_MOST_SHOWN = 60


class StoppingRule(Value):
    """What may end the sweep before every cell has run, and what is run again."""

    breaker: BreakerPolicy
    retry: RetryPolicy
    budget: SweepBudget | None
    cell_budget: CellBudget | None
    deadline_s: Seconds | None
    windows: tuple[WindowText, ...]


class Fixed(Value):
    """What a plan says, in the parts by which a difference is named."""

    tasks: dict[Name, Digest]
    """All of a task but its oracle."""
    oracles: dict[Name, Digest]
    """By task."""
    arms: dict[Name, Digest]
    gates: dict[Name, Pin]
    """Each with its version and its whole policy."""
    trials: int
    stopping: StoppingRule
    conditions: dict[str, Digest]
    """Everything else that the plan says, by field."""


class Code(Value):
    """The farm's own files, by what they are for."""

    runner: Digest
    analysis: Digest
    """Gates and statistics."""
    presets: Digest


class LockSubject(Value):
    """What is fixed: by the sweep file, by the farm that runs it, and by what the two give."""

    spec: Digest
    """Of what the sweep file says, but for the name of its lock."""
    farm_version: str
    code: Code
    libraries: dict[str, str]
    """The versions of those that the analysis computes with."""
    plan: Fixed


class SweepLock(Value):
    """A lock file. It is never changed: another subject is another lock, with an id of its own."""

    schema_version: Literal[1] = 1
    id: Name
    statement: Annotated[str, Field(min_length=10, max_length=2000)]
    """What the sweep is to show, in a person's words."""
    locked_at: AwareDatetime
    subject: LockSubject

    @property
    def digest(self) -> Digest:
        return Digest.of(canonical_json(self))


def fixed_by(plan: Plan) -> Fixed:
    """Take from a plan what a lock fixes."""
    shown = plan.model_dump(mode="json")
    handled = _ELSEWHERE | StoppingRule.model_fields.keys()
    return Fixed(
        tasks={task.id: _but_oracle(task) for task in plan.tasks},
        oracles={task.id: Digest.of(canonical_json(task.oracle)) for task in plan.tasks},
        arms={arm.name: Digest.of(canonical_json(arm)) for arm in plan.arms},
        gates={pin.name: pin for pin in plan.gates},
        trials=plan.trials,
        stopping=StoppingRule(**{name: getattr(plan, name) for name in StoppingRule.model_fields}),
        conditions={name: Digest.of(canonical_json(value)) for name, value in shown.items() if name not in handled},
    )


def _but_oracle(task: Task) -> Digest:
    return Digest.of(canonical_json(task.model_dump(mode="json", exclude={"oracle"})))


def differences(locked: LockSubject | Fixed, found: LockSubject | Fixed) -> tuple[str, ...]:
    """Name each place where what was found is not what was locked; none when the two are the same."""
    then, now = dict(_leaves(locked.model_dump(mode="json"))), dict(_leaves(found.model_dump(mode="json")))
    return tuple(
        f"{place}: locked {_told(place, then)}, found {_told(place, now)}"
        for place in sorted(then.keys() | now.keys())
        if then.get(place) != now.get(place)
    )


def _leaves(tree: JsonValue, place: str = "") -> Iterator[tuple[str, str]]:
    match tree:
        case dict() if tree:
            for name, value in tree.items():
                yield from _leaves(value, f"{place}.{name}" if place else name)
        case _:
            yield place, json.dumps(tree, sort_keys=True, ensure_ascii=False)


def _told(place: str, leaves: Mapping[str, str]) -> str:
    if place not in leaves:
        return "nothing"
    text = leaves[place]
    try:
        return Digest(text.strip('"'))[:_SHORT]
    except ValueError:
        return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
