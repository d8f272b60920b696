"""How much of a sweep's budget is used, from its records alone: for a sweep that nobody coordinates now."""

from farm.cli.counting import Count, Outline
from farm.coordinator.budget import Spend
from farm.coordinator.mandate import Mandate
from farm.model import Outcome, parse_record
from farm.model.keys import AttemptFile, attempt_place, attempts_prefix, outcome_key, sweep_root
from farm.ports import Records

_MOST_READ = 5000
"""The outcomes of a bigger sweep are not read for a look."""


def spent_words(records: Records, outlined: Outline, counted: Count) -> str | None:
    """Fold what the attempts used; those that left no outcome yet count as reserved. None: there is no budget."""
    budget = Mandate().budget_of(outlined.plan)
    if not budget.is_bounded:
        return None
    if counted.settled.bit_count() > _MOST_READ:
        return f"{budget.words} before any attempt; `farm coordinate` tells what they used"
    root, index = sweep_root(outlined.sweep), outlined.index_by_cell
    paying = {arm.name for arm in outlined.plan.arms if arm.provider is not None}
    places = (attempt_place(key.removeprefix(root)) for key in records.keys(attempts_prefix(outlined.sweep)))
    known = [place for place in places if place is not None and place.cell in index]
    paid = [place for place in known if outlined.arms[index[place.cell]] in paying]
    ended = {(place.cell, place.attempt) for place in paid if place.file is AttemptFile.OUTCOME}
    for cell, attempt in sorted(ended):
        key = outcome_key(outlined.sweep, cell, attempt)
        body = records.read(key)
        budget = budget.count(Spend.of(None if body is None else parse_record(Outcome, body, key)))
    silent = {index[place.cell]: place.attempt for place in paid if (place.cell, place.attempt) not in ended}
    return budget.reserve(silent).words
