"""What `farm coordinate` takes."""

import pytest
from click.testing import CliRunner

from farm.cli.coordinate import command


@pytest.mark.parametrize("arguments", [[], ["--open", "--budget", "5"], ["--open", "--shard", "1/2"]])
def test_without_a_sweep_it_takes_nothing_but_open(arguments: list[str]) -> None:
    ended = CliRunner().invoke(command, arguments)
    assert ended.exit_code == 2
    assert "name a sweep, or say --open alone for every open one" in ended.output


@pytest.mark.parametrize("sum_", ["0", "-1", "nan", "inf", "much"])
def test_a_budget_is_a_sum_above_nothing(sum_: str) -> None:
    ended = CliRunner().invoke(command, ["sweep-0.1", f"--budget={sum_}"])
    assert ended.exit_code == 2
    assert "is no sum of dollars above 0" in ended.output
