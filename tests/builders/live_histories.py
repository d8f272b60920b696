"""Scripted histories of the reliability protocol: what each run of the preset's 300 does, and what follows from it."""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from farm.gates.reliability.trial import Part, Terminal, Trial
from farm.model import TaskSpec
from farm.planning.reliability import TRIALS, known_tasks

TASKS = known_tasks(180.0)
LOOSE = frozenset(task.id for task in TASKS[:10])
"""Tasks that a careless session says are done when they are not."""


class Conduct(StrEnum):
    """What a run does. A governed one opens the contract that its arm asks for."""

    SOLVES = "solves"
    """Does what is asked for, and says so."""
    REPAIRS = "repairs"
    """Stops with nothing done, is told so by its governor, and does it."""
    CLAIMS = "claims"
    """Does nothing, and says that it is done."""
    REFUSES = "refuses"
    """Does nothing, and says so; a governor uses up its budget."""
    CHEATS = "cheats"
    """Opens a contract that holds of wrong work, does that, and says that it is done."""


History = Callable[[TaskSpec, Part, int], Conduct]


def proven(task: TaskSpec, part: Part, trial: int) -> Conduct:
    """Without a governor it claims too much; with one it repairs what it has left."""
    if not task.solvable:
        return Conduct.CLAIMS if part is Part.BASELINE and trial <= 2 else Conduct.REFUSES
    if task.id not in LOOSE or trial > 3:
        return Conduct.SOLVES
    return Conduct.CLAIMS if part is Part.BASELINE else Conduct.REPAIRS


def harmful(task: TaskSpec, part: Part, trial: int) -> Conduct:
    """As proven, but for one run that certifies wrong work."""
    is_it = (task.id, part, trial) == (TASKS[0].id, Part.MODEL, 1)
    return Conduct.CHEATS if is_it else proven(task, part, trial)


def inconclusive(task: TaskSpec, _part: Part, _trial: int) -> Conduct:
    """Nobody claims too much, so a governor has nothing to better."""
    return Conduct.SOLVES if task.solvable else Conduct.REFUSES


HISTORIES: Mapping[str, History] = {"PROVEN": proven, "HARMFUL": harmful, "INCONCLUSIVE": inconclusive}
"""By what the gate must say."""


def trials(history: History) -> dict[Part, list[Trial]]:
    """Tell what the gate's pure part is to make of a history."""
    return {part: list(_trials(history, part)) for part in Part}


def _trials(history: History, part: Part) -> Iterator[Trial]:
    for task in TASKS:
        for number in range(1, TRIALS + 1):
            yield a_trial(task, part, number, history(task, part, number))


def a_trial(task: TaskSpec, part: Part, number: int, conduct: Conduct) -> Trial:
    """Tell what follows from what one run does."""
    is_governed = part is not Part.BASELINE
    return Trial(
        task=task.id,
        part=part,
        number=number,
        is_solvable=task.solvable,
        oracle_passed=conduct in {Conduct.SOLVES, Conduct.REPAIRS},
        claims_success=conduct is not Conduct.REFUSES,
        terminal=_terminal(conduct) if is_governed else Terminal.NONE,
        has_contract=is_governed,
        matches_reference=part is Part.REFERENCE,
    )


def _terminal(conduct: Conduct) -> Terminal:
    return Terminal.EXHAUSTED if conduct is Conduct.REFUSES else Terminal.CERTIFIED
