"""`farm stats`, on tables as people have them."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from farm.cli.stats import command
from farm.cli.trials import read_trials
from farm.errors import SpecError

TABLE = """\
task,arm,trial,outcome,note
a,base,1,0,slow
a,base,2,1,
a,cand,1,1,
a,cand,2,true,
b,base,1,fail,
b,cand,1,pass,
c,cand,1,1,
"""


def run(path: Path, *options: str) -> Result:
    return CliRunner().invoke(command, [str(path), *options])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "trials.csv"
    path.write_text(TABLE)
    return path


def test_a_person_reads_the_difference_and_each_test(table: Path) -> None:
    told = run(table, "--pair", "cand", "base").output.splitlines()

    assert told[:3] == [
        "cand  mean 1.0000  3 runs",
        "base  mean 0.2500  3 runs",
        "difference      +0.7500 over 2 tasks",
    ]
    assert [line.split("  ")[0] for line in told[3:]] == [
        "paired",
        "unpaired",
        "bootstrap",
        "sign flip",
        "McNemar",
        "left out",
    ]


def test_a_program_reads_the_same_as_one_document(table: Path) -> None:
    document = json.loads(run(table, "--pair", "cand", "base", "--json").output)

    assert document["difference"]["estimate"] == 0.75
    assert document["difference"]["left_out"] == ["c"]
    assert (document["mcnemar"]["left_only"], document["sign_flip"]["method"]) == (2, "exact")


def test_a_single_task_has_a_difference_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("task,arm,trial,outcome\na,x,1,3\na,y,1,1.5\n")
    told = run(path, "--pair", "x", "y").output

    assert "difference      +1.5000 over 1 tasks" in told
    assert "no standard error from a single task" in told


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (("cand", "bass"), "has no arm 'bass'; did you mean 'base'?"),
        (("cand", "cand"), "names 'cand' twice"),
    ],
)
def test_a_pair_that_can_not_be_compared_is_named(pair: tuple[str, str], said: str, table: Path) -> None:
    error = run(table, "--pair", *pair).exception

    assert isinstance(error, SpecError)
    assert said in str(error)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no column 'task'; it is empty"),
        ("task,arm,trail,outcome\n", "has no column 'trial'; did you mean 'trail'?"),
        ("task,arm,trial,outcome\n", "holds no trials"),
        ("task,arm,trial,outcome\na,x,1,\n", ":2 has no outcome"),
        ("task,arm,trial,outcome\na,x,1\n", ":2 has no outcome"),
        ("task,arm,trial,outcome\na,x,1,maybe\n", ":2 has the outcome 'maybe'"),
        ("task,arm,trial,outcome\na,x,1,nan\n", ":2 has the outcome 'nan'"),
        ("task,arm,trial,outcome\na,x,1,1e999\n", ":2 has the outcome '1e999'"),
        ("task,arm,trial,outcome\na,x,1,0\nb,x,1,0\na,x,1,1\n", ":4 says again what line 2 says: a/x/1"),
        ('task,arm,trial,outcome\n"a,x,1,0\n', "can't be read as a CSV file"),
    ],
)
def test_a_table_that_is_wrong_is_told_by_its_line(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text(text)

    with pytest.raises(SpecError) as caught:
        read_trials(path)

    assert said in str(caught.value)


def test_a_table_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.csv can't be read"):
        read_trials(tmp_path / "none.csv")
