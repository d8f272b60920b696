"""What a person gets wrong: one clear line, exit 2 or 3, and nothing left behind."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders.farm_command import Desk, a_repository

SWEEP = """\
name: small
tasks:
  - id: one
    repository: {path: repository, ref: main}
    prompt: Write hello into greeting.txt.
    oracle: {kind: command, files: oracle, argv: [python3, "{hidden}/check.py"]}
arms:
  - {name: baseline, role: incumbent, agent: {kind: scripted, scripts: {one: []}}}
  - {name: candidate, role: candidate, agent: {kind: scripted, scripts: {one: []}}}
"""


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something done to a good sweep, the exit code it earns, and words that its message must hold."""

    make: Callable[[Path], None]
    code: int
    words: tuple[str, ...]


def replaced(old: str, new: str) -> Callable[[Path], None]:
    def make(here: Path) -> None:
        assert old in SWEEP
        (here / "sweep.yaml").write_text(SWEEP.replace(old, new))

    return make


def linked_oracle(here: Path) -> None:
    (here / "oracle").rename(here / "elsewhere")
    (here / "oracle").symlink_to("elsewhere")


def linked_oracle_file(here: Path) -> None:
    (here / "oracle" / "check.py").unlink()
    (here / "oracle" / "check.py").symlink_to("/etc/hostname")


def huge_prompt(here: Path) -> None:
    (here / "prompt.md").write_text("word " * 2_097_152)
    replaced("prompt: Write hello into greeting.txt.", "prompt_file: prompt.md")(here)


MISTAKES = {
    "a missing file": Mistake(lambda here: (here / "sweep.yaml").unlink(), 2, ("sweep.yaml",)),
    "broken YAML": Mistake(replaced("arms:", "arms: ["), 2, ("sweep.yaml",)),
    "a misspelt field": Mistake(replaced("    prompt:", "    promt:"), 2, ("sweep.yaml:5", "promt", "prompt")),
    "an unknown agent": Mistake(replaced("kind: scripted", "kind: scriptet"), 2, ("scriptet", "scripted")),
    "a duplicate id": Mistake(replaced("name: candidate", "name: baseline"), 2, ("baseline",)),
    "a candidate without an incumbent": Mistake(replaced("role: incumbent", "role: comparator"), 2, ("incumbent",)),
    "an unresolvable ref": Mistake(replaced("ref: main", "ref: mian"), 2, ("mian",)),
    "a missing repository": Mistake(replaced("path: repository", "path: repo"), 2, ("repo",)),
    "an oracle folder that is a symlink": Mistake(linked_oracle, 2, ("oracle",)),
    "an oracle file that is a symlink": Mistake(linked_oracle_file, 2, ("check.py",)),
    "a prompt of 10 MB": Mistake(huge_prompt, 2, ("prompt.md",)),
}


@pytest.fixture
def good(desk: Desk) -> Desk:
    a_repository(desk.here / "repository", {"README": "Say hello.\n"})
    (desk.here / "oracle").mkdir()
    (desk.here / "oracle" / "check.py").write_text("print('fine')\n")
    (desk.here / "sweep.yaml").write_text(SWEEP)
    return desk


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_one_clear_line_and_leaves_nothing(name: str, good: Desk) -> None:
    mistake = MISTAKES[name]
    mistake.make(good.here)
    before = good.files()
    ended = good.farm("run", "sweep.yaml")
    assert (ended.code, len(ended.error_lines)) == (mistake.code, 1), ended
    assert [word for word in mistake.words if word not in ended.err] == []
    assert "Traceback" not in ended.err
    assert (good.files() - before, good.processes()) == (set(), [])


def test_a_store_without_credentials_is_refused_before_anything_starts(good: Desk) -> None:
    before = good.files()
    ended = good.farm(
        "run", "sweep.yaml", env={"FARM_STORE": "s3://farm/store", "FARM_S3_ENDPOINT_URL": "http://127.0.0.1:9"}
    )
    assert (ended.code, len(ended.error_lines)) == (2, 1), ended
    assert "FARM_S3_ACCESS_KEY" in ended.err
    assert (good.files() - before, good.processes()) == (set(), [])


@pytest.mark.parametrize("arguments", [("run", "sweep.yaml"), ("worker",)], ids=["run", "worker"])
def test_a_redis_that_is_down_is_try_again_later(arguments: tuple[str, ...], good: Desk) -> None:
    before = good.files()
    ended = good.farm(*arguments, env={"FARM_REDIS_URL": "redis://:hush@127.0.0.1:9/0"})
    assert (ended.code, len(ended.error_lines)) == (3, 1), ended
    assert "127.0.0.1:9" in ended.err
    assert "hush" not in ended.err + ended.out
    assert (good.files() - before, good.processes()) == (set(), [])


def test_the_sweep_that_the_mistakes_are_made_in_is_good(good: Desk) -> None:
    assert good.farm("plan", "sweep.yaml").code == 0


def test_a_schedule_is_simulated_in_each_order_and_one_that_cannot_be_is_refused(good: Desk) -> None:
    told = good.farm("plan", "sweep.yaml", "--simulate", "--slots", "2")
    assert told.code == 0, told
    assert "time    on 2 slots, 2 cells; no order is under 0:40:00" in told.out
    assert "2 of them taken at their limit: no duration is known" in told.out
    assert "rotated       0:40:00  0.0 % above  (this plan)" in told.out
    for slots in ("0", "many", "nan"):
        assert good.farm("plan", "sweep.yaml", "--simulate", "--slots", slots).code == 2
