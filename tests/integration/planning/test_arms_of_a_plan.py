"""What a plan takes of its arms, and which it refuses."""

from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import JsonValue

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from farm.model import CellBudget, PriceTable, parse_record
from farm.planning.folder import pack_folder
from tests.builders.planning import SWEEP, Plugin, a_sweep, planned, plugins, refused
from worker.phases import Demand


def test_an_arms_labels_are_required_of_its_hosts(tmp_path: Path) -> None:
    text = SWEEP.replace("agent: {kind: robot}", "agent: {kind: robot}\n    labels: [gpu, arch=x86_64, gpu]", 1)
    first, second = planned(a_sweep(tmp_path, text)).arms
    assert (first.requires, second.requires) == (("label arch=x86_64", "label gpu"), ())


def test_an_arms_provider_the_prices_and_a_cells_budget_are_pinned(tmp_path: Path) -> None:
    text = SWEEP.replace("agent: {kind: robot}", "agent: {kind: asking}\n    provider: acme")
    file = a_sweep(tmp_path, text + "prices: prices.yaml\ncell_budget: {cost_usd: 1.50}\n")
    (tmp_path / "prices.yaml").write_text("models: {m: {input: 1, output: 2, cache_read: 0, cache_write: 1}}\n")
    blobs = MemoryBlobs()
    plan = planned(file, blobs)
    assert [arm.provider for arm in plan.arms] == ["acme", "acme"]
    assert plan.cell_budget == CellBudget(cost_usd=Decimal("1.5"))
    assert plan.prices is not None
    assert parse_record(PriceTable, blobs.get(plan.prices), "prices").models["m"].output == 2
    assert plan.lock(plan.cells[0]) != planned(a_sweep(tmp_path / "again", text)).lock(plan.cells[0])


def with_assets(folder: Path, assets: str) -> Path:
    """Lay out a sweep whose first arm has the assets of the YAML text."""
    return a_sweep(folder, SWEEP.replace("agent: {kind: robot}", f"agent: {{kind: robot}}\n    assets: {assets}", 1))


def test_an_arms_assets_are_packed_and_pinned_by_digest(tmp_path: Path) -> None:
    file = with_assets(tmp_path, "{tools: mcp/tools}")
    (tmp_path / "mcp" / "tools").mkdir(parents=True)
    (tmp_path / "mcp" / "tools" / "server.py").write_text("print(1)\n")
    blobs = MemoryBlobs()
    plan = planned(file, blobs)
    assert blobs.get(plan.arms[0].assets["tools"]) == pack_folder(tmp_path / "mcp" / "tools")
    assert plan.arms[1].assets == {}
    (tmp_path / "mcp" / "tools" / "server.py").write_text("print(2)\n")
    assert planned(file).lock(plan.cells[0]) != plan.lock(plan.cells[0])


@pytest.mark.parametrize(
    ("assets", "words"),
    [
        ("{tools: nowhere}", "sweep.yaml:11: arms[0].assets.tools: there is no folder nowhere"),
        ("{a_b: oracle}", "arms[0].assets"),
        (f"{{{', '.join(f'a{number}: oracle' for number in range(17))}}}", "arms[0].assets: "),
    ],
)
def test_an_asset_that_is_no_folder_or_has_no_name_is_refused(tmp_path: Path, assets: str, words: str) -> None:
    assert words in refused(with_assets(tmp_path, assets))


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("agent: {kind: asking}", "arms[0].provider: the agent 'asking' asks a model, and arm 'baseline' names no"),
        (
            "agent: {kind: robot}\n    provider: acme",
            "arms[0].provider: the agent 'robot' of arm 'baseline' asks no model",
        ),
    ],
)
def test_an_arm_names_a_provider_just_when_its_agent_asks_a_model(tmp_path: Path, arm: str, words: str) -> None:
    assert words in refused(a_sweep(tmp_path, SWEEP.replace("agent: {kind: robot}", arm, 1)))


class DemandingPlugin(Plugin):
    """A program whose phases ask something of their agent."""

    demands = (Demand(), Demand(("Edit",), "work"))


def test_an_arm_pins_how_many_sessions_its_program_runs_and_windows_leave_room_for_all(tmp_path: Path) -> None:
    known = plugins(programs={"single": DemandingPlugin})
    limited = SWEEP.replace("prompt: Fix the bug.", "prompt: Fix the bug.\n    limits: {wall_s: 1000}")
    assert [arm.sessions for arm in planned(a_sweep(tmp_path / "one", limited), known=known).arms] == [2, 2]
    windows = 'windows: ["22:00-22:30 Europe/Berlin"]\n'
    assert planned(a_sweep(tmp_path / "two", limited + windows)).windows
    with pytest.raises(SpecError, match="a cell of task 'bug' may need"):
        planned(a_sweep(tmp_path / "three", limited + windows), known=known)


class TooledPlugin(Plugin):
    """An agent that can be denied tools, and knows no skill."""

    def __init__(self, options: dict[str, JsonValue]) -> None:
        super().__init__(options)
        if "required_skill" in options:
            raise SpecError(f"there is no option required_skill here, beside {options}")


def test_an_arm_whose_agent_can_not_do_what_its_programs_phases_ask_is_refused(tmp_path: Path) -> None:
    known = plugins(programs={"single": DemandingPlugin}, agents={"robot": TooledPlugin})
    sweep = a_sweep(tmp_path, SWEEP.replace("{kind: robot}", "{kind: robot, denied_tools: [Bash]}", 1))
    with pytest.raises(SpecError) as caught:
        planned(sweep, known=known)
    assert "arms[0].program: there is no option required_skill here" in str(caught.value)
    assert "['Bash', 'Edit']" in str(caught.value)


class ChoosyPlugin(Plugin):
    """A program that can do with one kind of oracle alone."""

    oracles = ("files",)


def test_an_arm_whose_program_is_not_for_a_tasks_oracle_is_refused(tmp_path: Path) -> None:
    known = plugins(programs={"single": ChoosyPlugin})
    with pytest.raises(SpecError, match=r"is for tasks whose oracle is 'files'; task 'bug' has 'check'"):
        planned(a_sweep(tmp_path), known=known)


def test_an_arm_brings_the_assets_that_its_agents_options_name(tmp_path: Path) -> None:
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit/tool").write_text("x")
    arm = f"agent: {{kind: served}}\n    assets: {{other: {tmp_path}/kit, tools: {tmp_path}/kit}}"
    assert set(planned(a_sweep(tmp_path / "one", SWEEP.replace("agent: {kind: robot}", arm, 1))).arms[0].assets) == {
        "other",
        "tools",
    }
    lacking = SWEEP.replace("agent: {kind: robot}", arm.replace("tools", "more"), 1)
    words = "arms[0].agent: the agent 'served' needs the asset 'tools', which arm 'baseline' does not bring"
    said = refused(a_sweep(tmp_path / "two", lacking))
    assert words in said
    assert said.endswith("It brings: other, more")


def test_an_arm_that_brings_what_judges_a_task_is_refused(tmp_path: Path) -> None:
    arm = "agent: {kind: robot}\n    assets: {kit: oracle}"
    said = refused(a_sweep(tmp_path, SWEEP.replace("agent: {kind: robot}", arm, 1)))
    assert "arms[0].assets.kit: 'oracle' holds files of the oracle of task 'bug'" in said
