"""Arms that are their incumbent once more."""

from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.gates.pairs import ArmPair, same_arms
from tests.builders.planning import SWEEP, a_sweep, planned

CONTROL = """\
  - name: again
    role: control
    control: true
"""
SAME = SWEEP.replace("trials: 2", CONTROL + "    agent: {kind: robot}\ntrials: 2")


def test_a_control_that_is_its_incumbent_under_another_name_is_planned_and_known_as_the_same(tmp_path: Path) -> None:
    plan = planned(a_sweep(tmp_path, SAME))

    assert same_arms(plan) == (ArmPair(candidate="again", incumbent="baseline"),)
    assert len({plan.lock(cell) for cell in plan.cells if cell.arm in {"again", "baseline"}}) == 1


def test_an_overlay_of_the_same_bytes_is_the_same_wherever_it_stands(tmp_path: Path) -> None:
    overlay = "    agent: {kind: robot}\n    overlay: {files: %s, boundary: [docs/**]}\n"
    text = SAME.replace("    role: incumbent\n    agent: {kind: robot}\n", "    role: incumbent\n" + overlay % "laid")
    text = text.replace("    control: true\n    agent: {kind: robot}\n", "    control: true\n" + overlay % "copied")
    file = a_sweep(tmp_path, text)
    (tmp_path / "copied" / "docs").mkdir(parents=True)
    (tmp_path / "copied" / "docs" / "hint.md").write_bytes((tmp_path / "laid" / "docs" / "hint.md").read_bytes())

    assert same_arms(planned(file)) == (ArmPair(candidate="again", incumbent="baseline"),)

    (tmp_path / "copied" / "docs" / "hint.md").write_text("Another hint.\n")
    with pytest.raises(SpecError, match="'again' is a control of 'baseline' and differs from it in overlay"):
        planned(file)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("agent: {kind: robot, loud: true}", "agent"),
        ("agent: {kind: robot}\n    program: {kind: single, loud: true}", "program"),
        ("agent: {kind: robot}\n    labels: [big]", "labels"),
        ("agent: {kind: robot}\n    assets: {tools: laid}", "assets"),
        ("agent: {kind: robot}\n    overlay: {instructions: [base.md]}", "overlay"),
    ],
)
def test_a_control_that_differs_from_its_incumbent_is_refused_and_told_in_what(
    tmp_path: Path, fields: str, said: str
) -> None:
    file = a_sweep(tmp_path, SAME.replace("control: true\n    agent: {kind: robot}", f"control: true\n    {fields}"))

    with pytest.raises(SpecError, match=f"differs from it in {said}; make it the same, or drop `control`"):
        planned(file)
