"""Whether the team's living hosts can run a plan."""

from farm import bootstrap
from farm.errors import SpecError, TransientError
from farm.model import Plan, unserved


def lacking_now(plan: Plan) -> tuple[str, ...]:
    """Say which arms no living host of the team's queue can run; nothing where no queue is named."""
    settings = bootstrap.read_settings()
    if settings.redis_url is None:
        return ()
    try:
        return tuple(unserved(plan, bootstrap.connect(settings.redis_url).hosts.live()))
    except TransientError as error:
        return (f"which hosts live is not known: {error}",)


def ensure_served_if_locked(plan: Plan) -> None:
    """Raise SpecError where a plan has a lock and the living hosts can't run it: for want of a provider's key, say.

    Where no host lives nothing is refused, and nothing is asked: whoever lacks a key takes none of its cells.
    """
    known = plan.preregistration
    lacking = () if known is None or known.lock is None else lacking_now(plan)
    if lacking:
        raise SpecError("; ".join(lacking) + ". A provider needs its key on a host; `farm hosts` says who offers what")
