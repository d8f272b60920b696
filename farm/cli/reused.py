"""What a plan takes over from earlier sweeps, and what that saves, in words."""

from collections import Counter
from collections.abc import Iterator

from pydantic import JsonValue

from farm.model import Plan
from farm.planning.reuse import Selection


def reuse_lines(selection: Selection, plan: Plan) -> Iterator[str]:
    """Say what is taken over, what it saves, and why the other cells of the same arms are paid for."""
    if not selection.taken and not selection.paid:
        return
    unknown = selection.of_unknown_cost
    more = f", and what {unknown} of unknown cost would" if unknown else ""
    yield (
        f"reuse   {len(selection.taken)} of {len(plan.cells)} cells; saves ${selection.saved_usd:.2f}{more} and "
        f"{clock_text(selection.saved_s)} of sessions"
    )
    for arm in plan.arms:
        taken = sum(prior.row.arm == arm.name for prior in selection.taken.values())
        paid = Counter(
            why for cell, why in selection.paid.items() if plan.cells[plan.index_by_cell[cell]].arm == arm.name
        )
        if taken or paid:
            whys = "".join(f"; {count} paid: {why}" for why, count in paid.most_common())
            yield f"        arm {arm.name}: {taken} taken over{whys}"


def reuse_document(selection: Selection) -> JsonValue:
    """Give the same for a program; None where nothing was asked for."""
    if not selection.taken and not selection.paid:
        return None
    return {
        "taken": {cell: prior.origin.sweep for cell, prior in selection.taken.items()},
        "paid": {cell: str(why) for cell, why in selection.paid.items()},
        "saved_usd": str(selection.saved_usd),
        "saved_s": selection.saved_s,
        "of_unknown_cost": selection.of_unknown_cost,
    }


def clock_text(seconds: float) -> str:
    """Give a time as hours, minutes and seconds."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
