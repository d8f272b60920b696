"""What the README shows is what happens."""

import re
from pathlib import Path

from farm.cli.verbs import VERBS
from farm.settings import FarmSettings
from tests.builders.farm_command import Desk, a_repository
from worker.settings import WorkerSettings

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
SETTINGS = set(FarmSettings.model_fields) | set(WorkerSettings.model_fields) - {"lifeline", "private"}
"""All but those that processes of ours pass to each other."""


def test_the_first_sweep_runs_in_any_repository_and_its_gate_passes(desk: Desk) -> None:
    a_repository(desk.here, {"README": "Any repository.\n"})
    found = re.search(r"```yaml\n(.*?)```", README, flags=re.DOTALL)
    assert found is not None
    (desk.here / "sweep.yaml").write_text(found[1])
    ran = desk.farm("run", "sweep.yaml")
    assert ran.code == 0, ran
    (folder,) = (desk.here / ".farm" / "store" / "sweeps").iterdir()
    assert desk.farm("verify", folder.name).code == 0


def test_every_verb_that_it_names_exists() -> None:
    named = set(re.findall(r"(?:^|`|run --rm coordinator )farm ([a-z]+)", README, flags=re.MULTILINE))
    assert named - set(VERBS) == set()


def test_it_names_every_setting_and_no_other() -> None:
    known = {f"FARM_{field.upper()}" for field in SETTINGS}
    assert set(re.findall(r"FARM_[A-Z0-9_]+", README)) == known
