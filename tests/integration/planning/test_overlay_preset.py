import io
import tarfile
from pathlib import Path

import pytest

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from farm.model import ArmRole, BreakerPolicy, DispatchPolicy, FaultKind, Plan, RetryPolicy
from farm.planning.overlay_v4 import Fixture
from farm.plugins import Plugins
from tests.builders.planning import Plugin, planned

OVERLAY = "Prefer the dedicated tools over a shell. " * 3
SWEEP = """\
name: tools
preset: {kind: overlay-v4, fixture: FIXTURE}
arms:
  - {name: overlay-off, role: incumbent, agent: {kind: robot}}
  - {name: overlay-on, role: candidate, agent: {kind: robot}, overlay: {instructions: [base.md, own.md]}}
"""


def known() -> Plugins:
    """Our own gate and oracles, with an agent and a program that do nothing."""
    ours = Plugins()
    return Plugins(
        {
            "agents": {"robot": Plugin},
            "programs": {"single": Plugin},
            "sandboxes": {"bubblewrap": Plugin},
            "oracles": {name: ours.load("oracles", name) for name in ("answer", "command")},
            "gates": {"overlay": ours.load("gates", "overlay")},
        }
    )


def a_file(folder: Path, fixture: str = "effort-match-trivial", text: str = SWEEP) -> Path:
    (folder / "base.md").write_text("Inherited.\n")
    (folder / "own.md").write_text(OVERLAY)
    (folder / "sweep.yaml").write_text(text.replace("FIXTURE", fixture))
    return folder / "sweep.yaml"


def plan_of(file: Path, blobs: MemoryBlobs | None = None) -> Plan:
    return planned(file, blobs, known())


def refused(file: Path) -> str:
    with pytest.raises(SpecError) as caught:
        plan_of(file)
    return str(caught.value).replace(f"{file.parent}/", "")


@pytest.mark.parametrize("fixture", list(Fixture))
def test_each_fixture_is_twenty_cells_under_the_contracts_budgets(tmp_path: Path, fixture: str) -> None:
    plan = plan_of(a_file(tmp_path, fixture))
    assert [(arm.name, arm.role) for arm in plan.arms] == [
        ("overlay-off", ArmRole.INCUMBENT),
        ("overlay-on", ArmRole.CANDIDATE),
    ]
    assert len(plan.cells) == 20
    assert [task.id for task in plan.tasks] == [fixture]
    assert (plan.deadline_s, plan.grace_s, plan.breaker) == (1800.0, 5.0, BreakerPolicy(streak=0))
    assert plan.dispatch == DispatchPolicy(most_outstanding=3)
    assert plan.retry == RetryPolicy(most_attempts=4, kinds=frozenset({FaultKind.RATE_LIMIT}), base_delay_s=1.0)
    assert (plan.tasks[0].scope.most_files, plan.tasks[0].scope.most_file_bytes) == (100, 256_000)


@pytest.mark.parametrize(
    ("fixture", "metric", "gate", "correct_metric"),
    [
        ("dedicated-tools-vs-bash", "bash_tool_calls", "reduction", None),
        ("dedicated-tools-vs-bash-sonnet", "bash_tool_calls", "reduction", None),
        ("dedicated-tools-vs-bash-opus-5-5", "bash_tool_calls", "reduction", None),
        ("effort-match-trivial", "reported_thinking_tokens", None, None),
        ("literal-interpretation", "correct_target_behaviors", None, 3),
    ],
)
def test_each_fixture_has_its_own_gate(
    tmp_path: Path, fixture: str, metric: str, gate: str | None, correct_metric: int | None
) -> None:
    plan = plan_of(a_file(tmp_path, fixture))
    policy = plan.gates[0].options
    assert policy["arms"] == {"on": "overlay-on", "off": "overlay-off"}
    case = policy["cases"][fixture]  # type: ignore[index,call-overload]  # (JSON)
    found = {key: case[key] for key in ("metric", "planned", "gate", "correct_metric", "unsupported_hypothesis")}
    assert found == {
        "metric": metric,
        "planned": 10,
        "gate": gate,
        "correct_metric": correct_metric,
        "unsupported_hypothesis": None,
    }
    assert [one.name for one in plan.metrics] == [metric]


def test_only_the_literal_family_may_change_files(tmp_path: Path) -> None:
    allowed = {fixture: plan_of(a_file(tmp_path, fixture)).tasks[0].scope.allowed for fixture in Fixture}
    assert allowed.pop(Fixture.LITERAL) == ("src/auth.ts", "src/billing.ts", "src/notifications.ts")
    assert set(allowed.values()) == {()}


def test_the_workspace_is_the_familys_files_and_nothing_hidden(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    snapshot = plan_of(a_file(tmp_path, "literal-interpretation"), blobs).tasks[0].snapshot
    with tarfile.open(fileobj=io.BytesIO(blobs.get(snapshot.tree)), mode="r:") as tar:
        names = [one.name for one in tar if one.isreg()]
    assert names == [
        "README.md",
        "src/auth.ts",
        "src/billing.ts",
        "src/notifications.ts",
        "tests/auth.test.ts",
        "tests/billing.test.ts",
        "tests/notifications.test.ts",
    ]
    assert snapshot.commit == snapshot.tree


def test_the_overlay_is_resolved_with_the_inherited_text_first(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    overlay = plan_of(a_file(tmp_path), blobs).arms[1].overlay
    assert overlay is not None
    assert overlay.instructions is not None
    assert blobs.get(overlay.instructions).decode() == f"Inherited.\n\n{OVERLAY.strip()}"


def test_a_supported_claim_plans_every_cell(tmp_path: Path) -> None:
    text = SWEEP.replace("fixture:", "claim: dedicated tools, fixture:")
    assert len(plan_of(a_file(tmp_path, text=text)).cells) == 20


def test_an_unsupported_claim_plans_no_cell_and_says_why(tmp_path: Path) -> None:
    text = SWEEP.replace("fixture:", "claim: think less, fixture:")
    plan = plan_of(a_file(tmp_path, text=text))
    case = plan.gates[0].options["cases"]["effort-match-trivial"]  # type: ignore[index,call-overload]  # (JSON)
    assert plan.cells == ()
    assert case["unsupported_hypothesis"] == (
        "the resolved overlay of arm overlay-on does not contain the claimed text 'think less', so no cell was planned"
    )


@pytest.mark.parametrize(("characters", "is_long_enough"), [(100, False), (101, True)])
def test_a_resolved_overlay_of_a_hundred_characters_is_hardly_one(
    tmp_path: Path, characters: int, *, is_long_enough: bool
) -> None:
    file = a_file(tmp_path, text=SWEEP.replace("[base.md, own.md]", "[own.md]"))
    (tmp_path / "own.md").write_text("x" * characters + "\n")
    if is_long_enough:
        assert len(plan_of(file).cells) == 20
    else:
        assert "arms[1].overlay.instructions: the resolved overlay has 100 characters" in refused(file)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "fixture: FIXTURE",
            "fixture: effort-match",
            "preset.fixture: unknown value 'effort-match'; did you mean",
        ),
        (", fixture: FIXTURE", "", "sweep.yaml:2: preset.fixture: this field is missing"),
        ("FIXTURE", "FIXTURE, claims: x", "sweep.yaml:2: preset.claims: unknown field 'claims'; did you mean 'claim'?"),
        ("arms:", "trials: 3\narms:", "sweep.yaml:3: trials: the preset 'overlay-v4' fixes trials; drop it"),
        ("arms:", "gates: []\narms:", "sweep.yaml:3: gates: the preset 'overlay-v4' fixes gates; drop it"),
        ("name: overlay-off", "name: off", "sweep.yaml:3: arms: the preset 'overlay-v4' needs two arms"),
        ("role: candidate", "role: comparator", "sweep.yaml:3: arms: the preset 'overlay-v4' needs two arms"),
        (
            ", overlay: {instructions: [base.md, own.md]}",
            "",
            "sweep.yaml:5: arms[1]: arm 'overlay-on' needs an",
        ),
        ("own.md", "gone.md", "sweep.yaml:5: arms[1].overlay.instructions: there is no file gone.md"),
    ],
)
def test_what_does_not_fit_the_preset_is_told(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in refused(a_file(tmp_path, text=SWEEP.replace(old, new)))


def test_a_fixture_is_the_same_plan_in_any_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert plan_of(a_file(tmp_path / "a")).digest == plan_of(a_file(tmp_path / "b")).digest
