"""farm stats."""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import click
from pydantic import JsonValue, TypeAdapter

from farm.cli.common import answer, json_option
from farm.cli.trials import read_trials
from farm.errors import SpecError, did_you_mean
from farm.stats.comparison import Comparison, Trial, compare
from farm.stats.proportion import Interval
from farm.stats.sign_flip import Method

_MOST_NAMED = 5


@click.command(name="stats", epilog="Example:  farm stats trials.csv --pair candidate baseline")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--pair", nargs=2, required=True, metavar="LEFT RIGHT", help="The two arms; LEFT minus RIGHT is told.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the bootstrap's draws.")
@json_option
def command(table: Path, pair: tuple[str, str], *, seed: int, as_json: bool) -> None:
    """Compare two arms of a table of trials: a CSV file with the columns task, arm, trial and outcome.

    No store and no sweep is needed. Tasks weigh the same, whatever their number of runs.
    """
    trials = read_trials(table)
    _ensure_known(trials, pair, table)
    found = compare(trials, *pair, seed=seed)
    if found is None:
        raise SpecError(f"no task of {table} has runs of both {pair[0]!r} and {pair[1]!r}; they can't be paired")
    document: dict[str, JsonValue] = TypeAdapter(dict[str, JsonValue]).validate_python(_document(found))
    answer(document, _lines(found), as_json=as_json)


def _ensure_known(trials: list[Trial], pair: tuple[str, str], table: Path) -> None:
    arms = sorted({one.arm for one in trials})
    for arm in pair:
        if arm not in arms:
            raise SpecError(f"{table} has no arm {arm!r}; {did_you_mean(arm, arms)}")
    if pair[0] == pair[1]:
        raise SpecError(f"--pair names {pair[0]!r} twice; an arm is not compared with itself")


def _document(found: Comparison) -> dict[str, object]:
    document = asdict(found)
    document["difference"]["left_out"] = list(found.difference.left_out)
    document["sign_flip"]["method"] = found.sign_flip.method.value
    return document


def _lines(found: Comparison) -> Iterator[str]:
    difference, flip = found.difference, found.sign_flip
    width = max(len(found.left), len(found.right))
    yield f"{found.left:<{width}}  mean {found.left_mean:.4f}  {found.left_runs} runs"
    yield f"{found.right:<{width}}  mean {found.right_mean:.4f}  {found.right_runs} runs"
    yield f"difference      {difference.estimate:+.4f} over {difference.tasks} tasks"
    if difference.interval is not None and difference.standard_error is not None:
        yield f"paired          standard error {difference.standard_error:.4f}, 95 % {_told(difference.interval)}"
        yield f"unpaired        standard error {difference.unpaired_standard_error:.4f}, were the tasks not the same"
    else:
        yield "paired          no standard error from a single task"
    drawn = found.bootstrap
    yield f"bootstrap       95 % {_told(drawn.interval)} ({drawn.replicates} draws of whole tasks)"
    how = f"of {flip.assignments} assignments, {flip.nonzero} of {flip.tasks} tasks differ"
    drawn_error = f" ± {flip.standard_error:.4f}" if flip.method is Method.DRAWN else ""
    yield f"sign flip       p {flip.p_value:.4f}{drawn_error} ({flip.extreme} {how})"
    if found.mcnemar is None:
        yield "McNemar         only for outcomes of 0 and 1 on the same trials"
    else:
        pairs = f"{found.mcnemar.left_only} pairs for {found.left} alone, {found.mcnemar.right_only} for {found.right}"
        yield f"McNemar         p {found.mcnemar.p_value:.4f} ({pairs}; it takes trials of a task for independent)"
    if difference.left_out:
        named = ", ".join(difference.left_out[:_MOST_NAMED])
        more = f" and {len(difference.left_out) - _MOST_NAMED} more" if len(difference.left_out) > _MOST_NAMED else ""
        yield f"left out        {named}{more}: only one of the two arms has runs"


def _told(interval: Interval) -> str:
    return f"[{interval.low:+.4f}, {interval.high:+.4f}]"
