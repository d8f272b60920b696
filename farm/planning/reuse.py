"""Which cells a plan takes over from earlier sweeps instead of paying for them again.

By identity and by the validity of the evidence, never by what was answered: who takes over right answers and draws the
wrong ones again measures luck.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from farm.gates.promotion.taxonomy import STANDINGS, RowKind, kind_of
from farm.model import REUSING, Cell, CellId, Plan
from farm.planning.priors import Damaged, Prior


class Paid(StrEnum):
    """Why a cell that could have been taken over is run all the same."""

    UNKNOWN = "never measured there"
    LOCK = "measured under another lock"
    ROLE = "measured as a candidate or a control"
    INVALID = "its evidence does not hold"
    DAMAGED = "its records were changed"
    OLD = "measured too long ago"
    FUTURE = "measured in the future"
    CONFLICT = "measured more than once"
    CANARY = "kept, so that its arm is measured today"


@dataclass(frozen=True, slots=True)
class ReuseRule:
    """How old a measurement may be, from when on."""

    now: datetime
    within: timedelta


@dataclass(frozen=True, slots=True)
class Selection:
    """What a plan takes over, and why it does not take over the rest."""

    taken: Mapping[CellId, Prior] = field(default_factory=dict)
    paid: Mapping[CellId, Paid] = field(default_factory=dict)
    """Of the other cells of incumbents and comparators."""

    @property
    def saved_s(self) -> float:
        """Sum what the sessions lasted."""
        return sum(prior.row.duration_s or 0.0 for prior in self.taken.values())

    @property
    def saved_usd(self) -> Decimal:
        """Sum what the sessions cost, as far as that is known."""
        return sum((prior.row.cost_usd or Decimal(0) for prior in self.taken.values()), Decimal(0))

    @property
    def of_unknown_cost(self) -> int:
        """Count those of which nobody knows the cost."""
        return sum(prior.row.cost_usd is None for prior in self.taken.values())


def select(plan: Plan, found: Iterable[Prior | Damaged], rule: ReuseRule) -> Selection:
    """Choose, for each cell of an incumbent or a comparator, the one measurement that may stand for it.

    Two sound ones of one cell that are not the same block it. An arm that would be taken over whole keeps its first
    cell in plan order.
    """
    priors = defaultdict[CellId, list[Prior | Damaged]](list)
    for one in found:
        priors[one.cell if isinstance(one, Damaged) else CellId(one.row.cell)].append(one)
    taken, paid = dict[CellId, Prior](), dict[CellId, Paid]()
    for cell in eligible(plan):
        match _choose(plan, cell, priors.get(cell.id, ()), rule):
            case Prior() as prior:
                taken[cell.id] = prior
            case why:
                paid[cell.id] = why
    for canary in _canaries(plan, taken):
        del taken[canary]
        paid[canary] = Paid.CANARY
    return Selection(taken, paid)


def eligible(plan: Plan) -> Sequence[Cell]:
    """List the cells that may be taken over."""
    return [cell for cell in plan.cells if plan.arm_by_name[cell.arm].role in REUSING]


def _choose(plan: Plan, cell: Cell, priors: Sequence[Prior | Damaged], rule: ReuseRule) -> Prior | Paid:
    fit, unfit = list[Prior](), list[Paid]()
    for one in priors:
        why = Paid.DAMAGED if isinstance(one, Damaged) else _objection(plan, cell, one, rule)
        if isinstance(one, Prior) and why is None:
            fit.append(one)
        elif why is not None:
            unfit.append(why)
    if len({prior.origin.outcome for prior in fit}) > 1:
        return Paid.CONFLICT
    return fit[0] if fit else unfit[0] if unfit else Paid.UNKNOWN


def _objection(plan: Plan, cell: Cell, prior: Prior, rule: ReuseRule) -> Paid | None:
    evidence, measured_at = prior.outcome.evidence, prior.origin.measured_at
    if prior.role not in REUSING:
        return Paid.ROLE
    if evidence is None or prior.outcome.late or not _is_sound(prior):
        return Paid.INVALID
    if evidence.lock != plan.lock(cell) or prior.row.trial != cell.trial:
        return Paid.LOCK
    if measured_at > rule.now:
        return Paid.FUTURE
    return Paid.OLD if rule.now - measured_at > rule.within else None


def _is_sound(prior: Prior) -> bool:
    """Say whether the evidence holds; a session that ended at a limit, or by its agent's error, is the arm's doing."""
    if prior.row.oracle is None or prior.row.oracle.correct is None:
        return False
    kind = kind_of(prior.row)
    return kind is RowKind.SESSION_ERROR or STANDINGS[kind].is_reusable


def _canaries(plan: Plan, taken: Mapping[CellId, Prior]) -> Iterable[CellId]:
    first, fresh = dict[str, CellId](), set[str]()
    for cell in plan.cells:
        first.setdefault(cell.arm, cell.id)
        if cell.id not in taken:
            fresh.add(cell.arm)
    return [cell for arm, cell in first.items() if arm not in fresh]
