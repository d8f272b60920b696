"""What the gate would have said of sweeps like this one: its false alarms, and the gains that it could have seen."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import assert_never

from farm.gates.paired.gains import number_of
from farm.gates.paired.playing import Chance, Game, PlayedPair, chance, least_gain
from farm.gates.paired.policy import CORRECT, PairedPolicy
from farm.gates.pairs import ArmPair, pairs_by_role
from farm.gates.table import Table
from farm.model.base import Value
from farm.stats.truth import Answers, Spread, Truth, fitted_answers, seen_spread

POWER = 0.8
_PLAYS, _LEAST_PLAYS = 200, 50
_BUDGET_US = 600_000.0
"""Of a processor's time, for all that is played of one gate."""
_SETTINGS = 10
_STATED = (0.1, 0.2, 0.3)
_BEYOND = 8
_MOST_ROWS = 20_000
"""A bigger table is not even read for it."""


class Operating(Value):
    """A gate's characteristics, as played."""

    note: str
    """What was assumed, or why nothing was played."""
    metric: str = ""
    alike: Chance | None = None
    """At no gain at all: how often arms that are the same pass."""
    at_bound: Chance | None = None
    """At the gain that a candidate must exceed: each pass is a false one. The same as `alike` without a margin."""
    power: tuple[Chance, ...] = ()
    """At the stated gains beyond the bound."""
    least_gain: float | None = None
    """The least at which the gate passes in four of five sweeps; None: at none that was tried."""


_TOO_LARGE = Operating(note="Not played: the sweep is too large for it; `farm power` plays its sweep file at leisure.")


def operating(table: Table, rules: PairedPolicy) -> Operating:
    """Play the rule on sweeps of the table's own shape and noise.

    The shape is what was measured of each pair and task; the noise is what runs of the same task and arm differed by.
    A sweep whose plays would take more than about half a second is not played.
    """
    if len(table.rows) > _MOST_ROWS:
        return _TOO_LARGE
    pairs = rules.pairs or pairs_by_role(table.plan)
    game = _game(table, pairs, rules) if _are_known(table, pairs, rules) else "there is nothing to compare"
    if isinstance(game, str):
        return Operating(note=f"Not played: {game}.")
    plays = min(_PLAYS, int(_BUDGET_US / (_SETTINGS * game.play_us)))
    if plays < _LEAST_PLAYS:
        return _TOO_LARGE
    return _played(game, plays, rules.metric, _scale(table, pairs, rules))


def _played(game: Game, plays: int, metric: str, scale: float) -> Operating:
    bound = float(game.rules.bound)
    beyond = bound
    match game.truth:
        case Answers():
            room = 1 - game.truth.mean
            beyond = max(bound, -game.truth.mean)
            stated = [bound + step for step in _STATED if bound + step <= room]
            tried = [gain for step in range(1, 41) if (gain := bound + step / 20) <= room]
        case Spread():
            stated = [bound + step * scale for step in _STATED]
            tried = [bound + step / 4 * game.standard_error for step in range(4, 4 * _BEYOND + 1)]
        case _:
            assert_never(game.truth)
    return Operating(
        note=f"Assumed: {game.truth.words}. Every cell that was measured is measured again.",
        metric=metric,
        alike=chance(game, 0.0, plays),
        at_bound=chance(game, beyond, plays),
        power=tuple(chance(game, _rounded(gain), plays) for gain in stated),
        least_gain=least_gain(game, [_rounded(gain) for gain in tried], POWER, plays),
    )


def _rounded(gain: float) -> float:
    return float(f"{gain:.4g}")


def _are_known(table: Table, pairs: Sequence[ArmPair], rules: PairedPolicy) -> bool:
    named = (*pairs, *((rules.control,) if rules.control else ()))
    arms = {arm for pair in named for arm in (pair.candidate, pair.incumbent)}
    return bool(pairs) and arms <= table.plan.arm_by_name.keys()


Values = Mapping[str, Mapping[str, Mapping[int, Fraction]]]
"""By arm, task and trial."""


def _values(table: Table, metric: str) -> Values:
    found: dict[str, dict[str, dict[int, Fraction]]] = {arm.name: {} for arm in table.plan.arms}
    for row in table.rows:
        value = number_of(row, metric)
        if value is not None:
            found[row.arm].setdefault(row.task, {})[row.trial] = value
    return found


def _game(table: Table, pairs: Sequence[ArmPair], rules: PairedPolicy) -> Game | str:
    """Set up what is played, or say why it can't be."""
    values, arms = _values(table, rules.metric), [arm.name for arm in table.plan.arms]
    runs = {pair: _runs(table, values, pair) for pair in (*pairs, *((rules.control,) if rules.control else ()))}
    if any(not sum(runs[pair]) for pair in pairs):
        return "no run was measured of both arms"
    truth = _truth(table, values, pairs, rules.metric)
    if isinstance(truth, str):
        return truth
    places = {
        pair: PlayedPair(arms.index(pair.candidate), arms.index(pair.incumbent), counted)
        for pair, counted in runs.items()
    }
    control = None if rules.control is None else places[rules.control]
    return Game(len(arms), tuple(places[pair] for pair in pairs), control, truth, rules)


def _runs(table: Table, values: Values, pair: ArmPair) -> tuple[int, ...]:
    ours, theirs = values[pair.candidate], values[pair.incumbent]
    return tuple(len(ours.get(task.id, {}).keys() & theirs.get(task.id, {}).keys()) for task in table.plan.tasks)


def _truth(table: Table, values: Values, pairs: Sequence[ArmPair], metric: str) -> Truth | str:
    tasks = [task.id for task in table.plan.tasks]
    incumbents = {pair.incumbent for pair in pairs}
    if metric == CORRECT and all(
        one in {0, 1} for arm in values.values() for of in arm.values() for one in of.values()
    ):
        answers = [[one for arm in incumbents for one in values[arm].get(task, {}).values()] for task in tasks]
        judged = [of for of in answers if of]
        return fitted_answers([int(sum(of)) for of in judged], [len(of) for of in judged])
    spread = seen_spread(
        [{arm: [float(one) for one in of.get(task, {}).values()] for arm, of in values.items()} for task in tasks]
    )
    if spread is None:
        return f"no task has two runs of one arm, so nothing is known of how {metric} varies; plan more trials"
    return spread if spread.variance > 0 else f"runs of one task and arm never differed in {metric}"


def _scale(table: Table, pairs: Sequence[ArmPair], rules: PairedPolicy) -> float:
    """Give what stated gains are parts of: the whole for answers, the incumbents' own size for numbers."""
    values = _values(table, rules.metric)
    theirs = [one for pair in pairs for of in values[pair.incumbent].values() for one in of.values()]
    return abs(float(sum(theirs, Fraction(0)) / len(theirs))) if theirs else 0.0
