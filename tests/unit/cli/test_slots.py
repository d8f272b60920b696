"""How many cells run at once, as a person says it."""

import click
import pytest
from click.testing import CliRunner

from farm.cli import resume, run, worker


@pytest.mark.parametrize("slots", ["many", "nan", "-1", "1.5", ""])
@pytest.mark.parametrize(
    ("command", "words"),
    [(run.command, ["sweep.yaml"]), (resume.command, ["demo-0.1"]), (worker.command, [])],
    ids=["run", "resume", "worker"],
)
def test_case_59_a_mistyped_number_of_slots_is_refused_before_anything_is_read(
    command: click.Command, words: list[str], slots: str
) -> None:
    ended = CliRunner().invoke(command, [*words, f"--slots={slots}"])
    assert ended.exit_code == 2
    assert "Invalid value for '--slots'" in ended.output
