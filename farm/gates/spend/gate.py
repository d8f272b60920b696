"""The gate: a bound for the whole sweep, and one for each candidate against its incumbent."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pydantic import JsonValue

from farm.gates.exact import number
from farm.gates.pairs import ArmPair, pairs_by_role
from farm.gates.protocol import Judgement
from farm.gates.spend.bill import Bill, bill
from farm.gates.spend.policy import SpendPolicy, read_policy
from farm.gates.table import Row, Table
from farm.model import Check, CloseReason, Decision


class SpendGate:
    """Passes within its bounds, fails above one, and is inconclusive where what nobody knows would decide.

    Every attempt is in the sums: retries, faults and cells without a measurement. What is known may be too much by
    itself; it is never enough by itself. A sweep that did not run to its end spent less because it did less, so it
    passes nothing. Against the incumbent only cells of a task and trial that both arms have are compared, and nothing
    is decided where one of them never ended or was taken over from an earlier sweep, whose attempts are not known here.
    """

    name = "spend"
    version = "1"

    def policy(self, options: dict[str, JsonValue], tasks: tuple[str, ...]) -> dict[str, JsonValue]:  # noqa: ARG002 (the protocol's)
        """Check options and fill in the defaults; raise SpecError naming what is wrong."""
        return read_policy(options).model_dump(mode="json")

    def judge(self, table: Table, policy: dict[str, JsonValue]) -> Judgement:
        """Hold what was spent against what the policy allows."""
        rules = SpendPolicy.model_validate(policy)
        pairs = rules.pairs or pairs_by_role(table.plan)
        unmet = None if rules.most_of_incumbent is None else _unmet(table, pairs)
        if unmet is not None:
            return Judgement(decision=Decision.INCONCLUSIVE, summary=f"Nothing to judge: {unmet}.", checks=())
        whole = bill(table.rows, rules.measure)
        checks = [_complete(table)]
        if rules.most is not None:
            checks.append(_check("spent", "sweep", _Bound(whole, Fraction(repr(rules.most)), whole.words), rules.most))
        if rules.most_of_incumbent is not None:
            checks += [_compared(table, pair, rules, rules.most_of_incumbent) for pair in pairs]
        by_arm = {arm.name: [row for row in table.rows if row.arm == arm.name] for arm in table.plan.arms}
        return Judgement(
            decision=_decision(checks),
            summary=_summary(checks, rules),
            checks=tuple(checks),
            findings={
                "measure": rules.measure.value,
                "sweep": whole.record,
                "arms": {arm: bill(rows, rules.measure).record for arm, rows in by_arm.items()},
            },
        )


@dataclass(frozen=True, slots=True)
class _Bound:
    """What was spent, and the most that may be; None: nobody knows that."""

    bill: Bill
    most: Fraction | None
    note: str
    is_decidable: bool = True

    @property
    def holds(self) -> bool | None:
        if self.most is None or not self.is_decidable:
            return None
        if self.bill.known > self.most:
            return False
        return True if self.bill.whole is not None else None


def _unmet(table: Table, pairs: Sequence[ArmPair]) -> str | None:
    """Say what the plan lacks for this gate."""
    if not pairs:
        return "the policy names no pairs, and the plan has no candidate or does not say which incumbent is whose"
    named = (arm for pair in pairs for arm in (pair.candidate, pair.incumbent))
    unknown = next((arm for arm in named if arm not in table.plan.arm_by_name), None)
    return None if unknown is None else f"the plan holds no arm {unknown!r}"


def _complete(table: Table) -> Check:
    close = table.lifecycle.close
    return Check(
        name="sweep-complete",
        subject="sweep",
        operator="==",
        threshold=CloseReason.COMPLETE.value,
        observed=close.value,
        holds=True if close is CloseReason.COMPLETE else None,
    )


def _check(name: str, subject: str, bound: _Bound, threshold: JsonValue) -> Check:
    return Check(
        name=name,
        subject=subject,
        operator="<=",
        threshold=threshold,
        observed=number(bound.bill.known),
        holds=bound.holds,
        note=bound.note,
    )


def _compared(table: Table, pair: ArmPair, rules: SpendPolicy, factor: float) -> Check:
    rows = {(row.task, row.trial, row.arm): row for row in table.rows if row.arm in {pair.candidate, pair.incumbent}}
    both = [
        (row, rows[task, trial, pair.incumbent])
        for (task, trial, arm), row in rows.items()
        if arm == pair.candidate and (task, trial, pair.incumbent) in rows
    ]
    candidate = bill((one for one, _ in both), rules.measure)
    incumbent = bill((other for _, other in both), rules.measure)
    unfit = next((row.cell for pair_of in both for row in pair_of if _is_unfit(row)), None)
    most = None if incumbent.whole is None or not both else Fraction(repr(factor)) * incumbent.whole
    notes = [f"{factor:g} times what {pair.incumbent} took in the same {len(both)} cells"]
    notes += [f"{pair.incumbent}: {incumbent.words}"] if incumbent.words else []
    notes += [f"{pair.candidate}: {candidate.words}"] if candidate.words else []
    notes += [f"{unfit} never ended, or was taken over"] if unfit is not None else []
    bound = _Bound(candidate, most, "; ".join(notes), is_decidable=unfit is None)
    return _check("spent-of-incumbent", str(pair), bound, None if most is None else number(most))


def _is_unfit(row: Row) -> bool:
    return row.unsettled is not None or row.reused


def _decision(checks: Sequence[Check]) -> Decision:
    if any(check.holds is False for check in checks):
        return Decision.FAIL
    return Decision.PASS if all(check.holds for check in checks) else Decision.INCONCLUSIVE


_WORDS = {True: "within", False: "above", None: "not known to be within"}


def _summary(checks: Sequence[Check], rules: SpendPolicy) -> str:
    told = [f"{check.subject}: {_WORDS[check.holds]} its bound ({_amounts(check, rules)})" for check in checks[1:]]
    before = "" if checks[0].holds else f"The sweep did not run to its end ({checks[0].observed}). "
    return before + "; ".join(told) + "."


def _amounts(check: Check, rules: SpendPolicy) -> str:
    known = f"{'' if check.holds else 'at least '}{_amount(check.observed)} {rules.measure}"
    return known + (" of nobody knows how much" if check.threshold is None else f" of {_amount(check.threshold)}")


def _amount(value: JsonValue) -> str:
    return f"{value:.12g}" if isinstance(value, int | float) else "unknown"
