"""farm lock."""

import json
from pathlib import Path

import click

from farm import drafting
from farm.cli.common import answer, expensive_option, json_option
from farm.errors import SpecError
from farm.model import SweepLock


@click.command(name="lock", epilog='Example:  farm lock sweep.yaml --statement "Candidates solve more." -o sweep.lock')
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option("--id", "named", metavar="ID", help="What the lock is called. Default: the sweep's name and a digest.")
@click.option("--statement", metavar="TEXT", help="What the sweep is to show. Default: what it compares.")
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="The lock file; it must be new.")
@expensive_option
@json_option
def command(  # noqa: PLR0913 (a verb's options)
    sweep_file: Path, *, named: str | None, statement: str | None, output: Path, expensive: bool, as_json: bool
) -> None:
    """Fix all that decides what a sweep will say, before it is paid for.

    The lock holds digests of the sweep file, tasks, oracles, arms, the farm's own code, each gate's policy and the
    rules by which the sweep stops. Commit it beside the sweep file, push, and name it there: `lock: FILE`. A plan that
    differs from it is refused.
    """
    lock = drafting.draft_lock(sweep_file, named, statement, expensive=expensive)
    _write(lock, output)
    plan = lock.subject.plan
    size = f"{len(plan.tasks)} tasks, {len(plan.arms)} arms, {plan.trials} trials of each"
    lines = [f"lock    {lock.id} {lock.digest}", f"fixes   {size}", f"written {output}; commit it, push, and name it"]
    answer({"id": lock.id, "digest": str(lock.digest), "file": str(output)}, lines, as_json=as_json)


def _write(lock: SweepLock, output: Path) -> None:
    """Write a new file; raise SpecError where one stands, since a lock is never changed."""
    text = json.dumps(lock.model_dump(mode="json"), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise SpecError(
            f"{output} stands, and a lock is never changed; write the new one, with an id of its own, to another file"
        ) from None
