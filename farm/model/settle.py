"""When an outcome settles its cell, and the result that it makes: one rule for the worker and the coordinator."""

from farm.model.digest import Digest
from farm.model.evidence import Outcome
from farm.model.policy import RetryPolicy
from farm.model.result import Result, ResultStatus


def settles(outcome: Outcome, policy: RetryPolicy) -> bool:
    """Say whether the outcome is its cell's last: evidence, or a fault that is neither open nor tried again."""
    fault = outcome.fault
    return fault is None or not (fault.is_open or policy.earns_another(fault, outcome.attempt))


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
