"""The demo, whole: YAML in, sealed report out."""

import json
import shutil
from pathlib import Path

import pytest

from tests.builders.farm_command import Desk

QUICKSTART = Path(__file__).parents[2] / "ops" / "examples" / "quickstart"


@pytest.fixture
def quickstart(desk: Desk) -> Desk:
    shutil.copytree(QUICKSTART, desk.here, dirs_exist_ok=True)
    return desk


def test_the_quickstart_passes_its_gate_and_its_seal_verifies(quickstart: Desk) -> None:
    ran = quickstart.farm("run", "sweep.yaml")
    assert ran.code == 0, ran
    assert "PASS" in ran.out.upper()
    (folder,) = (quickstart.here / ".farm" / "store" / "sweeps").iterdir()
    sweep = folder.name
    settlement = json.loads((folder / "settlement.json").read_bytes())
    assert [cell["cell"] for cell in settlement["cells"] if cell["result"] is None] == []
    assert len(list((folder / "results").iterdir())) == len(settlement["cells"]) == 18
    assert {path.suffix for path in (folder / "report").iterdir()} >= {".json", ".md", ".html"}

    assert quickstart.farm("verify", sweep).code == 0
    judged = quickstart.farm("gate", sweep)
    assert (judged.code, judged.out.splitlines()[0].split()[0]) == (0, "PASS"), judged
    rows = [json.loads(line) for line in quickstart.farm("export", "rows", sweep).out.splitlines()]
    assert len(rows) == len(settlement["cells"])
    assert {row["error_kind"] for row in rows if row["resolved"]} == {None}
    assert quickstart.processes() == []


def test_one_flipped_byte_is_found_and_named(quickstart: Desk) -> None:
    assert quickstart.farm("run", "sweep.yaml").code == 0
    (folder,) = (quickstart.here / ".farm" / "store" / "sweeps").iterdir()
    victim = sorted((folder / "results").iterdir())[3]
    body = bytearray(victim.read_bytes())
    body[len(body) // 2] ^= 1
    victim.chmod(0o644)
    victim.write_bytes(body)
    ended = quickstart.farm("verify", folder.name)
    assert (ended.code, victim.name in ended.err + ended.out) == (4, True), ended
