"""Pre-registration at the command line: its options, what it says of a plan, and what stops a decision."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click
from pydantic import JsonValue

from farm.drafting import Draft, Registering
from farm.errors import SpecError
from farm.planning.forecast import Forecast
from farm.planning.locking import Cut

F = TypeVar("F", bound=Callable[..., Any])


def registering_options(function: F) -> F:
    """Add --lock, --max-tasks, --trials and --prior."""
    for option in (
        click.option(
            "--lock",
            type=click.Path(path_type=Path),
            help="The lock that the plan must not differ from, in place of the sweep file's `lock:`.",
        ),
        click.option(
            "--max-tasks",
            type=click.IntRange(min=1),
            metavar="N",
            help="A pilot of the first N tasks: no gate passes in it.",
        ),
        click.option(
            "--trials",
            type=click.IntRange(min=1),
            metavar="N",
            help="A pilot of N trials, in place of the sweep file's: no gate passes in it.",
        ),
        click.option(
            "--prior",
            "priors",
            multiple=True,
            metavar="SWEEP",
            help="A sealed sweep, a pilot say, by which the cost is forecast: its id, or the place of its folder.",
        ),
    ):
        function = option(function)
    return function


def confirm_option(function: F) -> F:
    """Add --confirm-cost."""
    return click.option(
        "--confirm-cost",
        "confirmed",
        is_flag=True,
        help="Pay for a sweep that has a lock: without it, what it may cost is said, and nothing is run.",
    )(function)


def registering(lock: Path | None, max_tasks: int | None, trials: int | None, priors: tuple[str, ...]) -> Registering:
    """Put together what the options say."""
    return Registering(lock, Cut(max_tasks, trials), priors)


def ensure_may_run(draft: Draft, *, confirmed: bool) -> None:
    """Raise SpecError where the plan has a lock and is not what was promised, or nobody confirmed what it costs."""
    known = draft.plan.preregistration
    if known is None or known.lock is None:
        return
    for line in cost_lines(draft.cost):
        click.echo(line, err=True)
    if draft.objections:
        listed = "\n".join(f"  {one}" for one in draft.objections)
        raise SpecError(
            f"the sweep is locked as {known.lock.id!r}, and can't be decided as things stand; --max-tasks or --trials "
            f"make a pilot of it:\n{listed}"
        )
    if not confirmed:
        raise SpecError(f"nobody confirmed the cost of {draft.cost.runs} runs; say --confirm-cost to pay for it")


def registration_lines(draft: Draft) -> Iterator[str]:
    """Say how the plan was fixed beforehand; nothing where it was not, and is whole."""
    known = draft.plan.preregistration
    if known is None:
        return
    if known.lock is not None:
        yield f"lock    {known.lock.id} {known.lock.digest}: nothing differs"
    if known.pilot is not None:
        yield f"pilot   {known.pilot.words}: no gate passes; one may fail, or find harm"
        return
    if known.source is not None:
        yield f"source  {known.source.words}"
    yield from (f"refused {objection}" for objection in draft.objections)


def registration_document(draft: Draft) -> JsonValue:
    """Say the same to a program; None where there is nothing to say."""
    known = draft.plan.preregistration
    return None if known is None else {**known.model_dump(mode="json"), "objections": list(draft.objections)}


def cost_lines(cost: Forecast) -> Iterator[str]:
    """Say how many runs are paid for, and how much money that is."""
    yield f"cost    {cost.runs} runs, {cost.asking} of which ask a provider: {_money(cost)}"


def cost_document(cost: Forecast) -> JsonValue:
    """Say the same to a program."""
    return {
        "runs": cost.runs,
        "asking": cost.asking,
        "most_usd": None if cost.most_usd is None else str(cost.most_usd),
        "expected_usd": str(cost.expected_usd),
        "of_unknown_cost": cost.unexpected,
    }


def _money(cost: Forecast) -> str:
    if cost.asking == 0:
        return "$0.00"
    most = "no budget in dollars bounds it" if cost.most_usd is None else f"at most ${cost.most_usd:.2f}"
    if cost.unexpected == cost.asking:
        return f"{most}; what to expect is unknown (--prior names a sweep to go by)"
    more = f", and what {cost.unexpected} of unknown cost will" if cost.unexpected else ""
    return f"about ${cost.expected_usd:.2f}{more}; {most}"
