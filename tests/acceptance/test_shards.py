"""A sweep in shards, each run by a command of its own with a queue of its own, as a CI matrix does."""

import json
import shutil
from pathlib import Path

from tests.builders.farm_command import Desk

QUICKSTART = Path(__file__).parents[2] / "ops" / "examples" / "quickstart"


def test_two_shards_make_one_sealed_sweep_that_verifies(desk: Desk) -> None:
    shutil.copytree(QUICKSTART, desk.here, dirs_exist_ok=True)
    second = desk.farm("run", "--shard", "2/2", "sweep.yaml")
    assert second.code == 0, second
    assert "shard 2/2 is complete; the sweep is settled when these have ended: 1/2" in second.out
    (folder,) = (desk.here / ".farm" / "store" / "sweeps").iterdir()
    sweep = folder.name
    half = len(list((folder / "results").iterdir()))
    assert 0 < half < 18
    assert not (folder / "close.json").exists()

    status = desk.farm("status", sweep)
    assert "shard 1/2: nobody has submitted it" in status.out, status
    assert "shard 2/2: complete" in status.out, status
    refused = desk.farm("finalize", sweep)
    assert (refused.code, f"farm resume {sweep} --shard 1/2" in refused.out) == (6, True), refused
    unnamed = desk.farm("resume", sweep)
    assert (unnamed.code, "opened in 2 shards: name one" in unnamed.err) == (2, True), unnamed

    first = desk.farm("run", "--shard", "1/2", "sweep.yaml")
    assert first.code == 0, first
    assert "PASS" in first.out.upper()
    settlement = json.loads((folder / "settlement.json").read_bytes())
    assert [cell["cell"] for cell in settlement["cells"] if cell["result"] is None] == []
    assert len(list((folder / "attempts").iterdir())) == 18
    assert desk.farm("verify", sweep).code == 0

    victim = folder / "shards" / "2" / "close.json"
    victim.chmod(0o644)
    victim.write_bytes(victim.read_bytes().replace(b"complete", b"deadline"))
    forged = desk.farm("verify", sweep)
    assert (forged.code, "shards/2/close.json" in forged.err + forged.out) == (4, True), forged


def test_what_is_no_shard_is_refused_before_anything_is_stored(desk: Desk) -> None:
    shutil.copytree(QUICKSTART, desk.here, dirs_exist_ok=True)
    refused = desk.farm("submit", "--shard", "5/4", "sweep.yaml")
    assert (refused.code, "of N shards, at least 2, name one from 1 to N" in refused.err) == (2, True), refused
    assert not (desk.here / ".farm").exists()
