"""When an outcome settles its cell by itself, and the result that it makes: for the worker and the coordinator."""

from farm.model.digest import Digest
from farm.model.evidence import Outcome
from farm.model.names import SweepId
from farm.model.origin import Origin
from farm.model.policy import RetryPolicy
from farm.model.result import Result


def settles(outcome: Outcome, policy: RetryPolicy) -> bool:
    """Say whether the outcome settles its cell whatever went before it: evidence, or a fault that is never tried again.

    Whether a fault that may be tried again was the last depends on the cell's other attempts: so the coordinator says.
    """
    fault = outcome.fault
    return fault is None or not (fault.is_open or fault.kind in policy.kinds)


def taken_over(original: Outcome, origin: Origin, sweep: SweepId, plan: Digest) -> Outcome:
    """Make the outcome of the cell that `sweep` takes over from where it was measured: all of it but whose it is."""
    return original.model_copy(update={"sweep": sweep, "plan": plan, "attempt": 1, "origin": origin})


def result_of(outcome: Outcome, outcome_digest: Digest) -> Result:
    """Make the result of a settling outcome; `outcome_digest` is of the stored bytes of its outcome.json."""
    return Result(
        sweep=outcome.sweep,
        plan=outcome.plan,
        cell=outcome.cell,
        attempt=outcome.attempt,
        outcome=outcome_digest,
        fault=outcome.fault.kind if outcome.fault else None,
    )
