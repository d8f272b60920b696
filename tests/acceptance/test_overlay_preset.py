"""The overlay-v4 families, whole: ten samples for each of two arms, by the scripted agent."""

import json
import shutil
from pathlib import Path

import pytest

from tests.builders.farm_command import Desk

EXAMPLES = Path(__file__).parents[2] / "ops" / "examples" / "overlay-v4"


def run_family(desk: Desk, family: str) -> dict[str, object]:
    """Run a family's example and give its verdict."""
    shutil.copytree(EXAMPLES, desk.here, dirs_exist_ok=True)
    ran = desk.farm("run", f"{family}.yaml")
    (verdict,) = (desk.here / ".farm" / "store").glob("sweeps/*/verdicts/*.json")
    assert len(list(verdict.parents[1].glob("results/*.json"))) == 20
    assert ran.code == 0, ran
    found: dict[str, object] = json.loads(verdict.read_bytes())
    return found


@pytest.mark.parametrize("family", ["dedicated", "effort", "literal"])
def test_a_family_passes_with_its_scripted_arms(family: str, desk: Desk) -> None:
    verdict = run_family(desk, family)
    assert (verdict["decision"], verdict["gate"]["name"], verdict["gate"]["version"]) == ("pass", "overlay", "4")  # type: ignore[index]  # (JSON)


def test_a_claim_that_the_overlay_does_not_make_buys_no_sample(desk: Desk) -> None:
    shutil.copytree(EXAMPLES, desk.here, dirs_exist_ok=True)
    sweep = desk.here / "dedicated.yaml"
    sweep.write_text(sweep.read_text().replace("claim: dedicated tools", "claim: never asks twice"))
    ran = desk.farm("run", "dedicated.yaml")
    store = desk.here / ".farm" / "store"
    assert (ran.code, list(store.glob("sweeps/*/attempts/*"))) == (1, []), ran
    (verdict,) = store.glob("sweeps/*/verdicts/*.json")
    assert "unsupported_hypothesis" in verdict.read_text()
