"""When an outcome settles its cell, and the result that it makes: one rule for the worker and the coordinator."""

from farm.model.digest import Digest
from farm.model.evidence import Outcome
from farm.model.fault import Fault
from farm.model.policy import RetryPolicy
from farm.model.result import Result, ResultStatus


def settles(outcome: Outcome, policy: RetryPolicy) -> bool:
    """Say whether the outcome is its cell's last: evidence, or a fault that neither stays open nor earns another try."""
    return fault_settles(outcome.fault, outcome.attempt, policy)


def fault_settles(fault: Fault | None, attempt: int, policy: RetryPolicy) -> bool:
    """The same for an outcome taken apart; no fault means evidence."""
    if fault is None:
        return True
    return not fault.is_open and not policy.earns_another(fault, attempt)


def result_of(outcome: Outcome, outcome_digest: Digest) -> Result:
    """Make the result of a settling outcome; `outcome_digest` is of the stored bytes of its outcome.json."""
    return Result(
        sweep=outcome.sweep,
        plan=outcome.plan,
        cell=outcome.cell,
        attempt=outcome.attempt,
        status=ResultStatus.MEASURED if outcome.is_usable else ResultStatus.EXCLUDED,
        outcome=outcome_digest,
        fault=outcome.fault.kind if outcome.fault else None,
    )
