"""What an arm brings for its agent: seen read-only by its sessions and their tools, and by nobody else."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from farm.model import SessionReport
from farm.plugins import Plugins
from sandbox.backends.docker import Docker
from tests.builders.worker.farm import GIVEN, Farm, says
from tests.builders.worker.working import Make, Run
from worker.agents.scripted import ScriptedAgent
from worker.cell.recording import LineEnd
from worker.session import Launch, SessionRequest

TOOLS = {"server.py": "A = 1\n", "bin/run": "#!/bin/sh\necho ran\n"}
SEES = "cat /cell/assets/tools/server.py && [ $(/cell/assets/tools/bin/run) = ran ]"
WRITES = "(echo x >/cell/assets/tools/server.py || rm -f /cell/assets/tools/server.py || touch /cell/assets/new) 2>&1"


def the_session(farm: Farm) -> SessionReport:
    evidence = farm.outcome().evidence
    assert evidence is not None, farm.outcome().fault
    (session,) = evidence.sessions
    return session


class ServingAgent(ScriptedAgent):
    """Starts servers, sees an asset at a place of its own, and finds it by a link in its home."""

    def launch(self, request: SessionRequest) -> Launch:
        launch = super().launch(request)
        return replace(
            launch,
            starts_servers=True,
            asset_views={"/cell/skills/house/skills": "tools"},
            home_links={".deep/er/tools": "/cell/assets/tools"},
        )


@pytest.fixture(params=["bubblewrap", "docker"])
def anywhere(request: pytest.FixtureRequest, farm: Make, work_root: Path) -> Iterator[Make]:
    """Make a farm whose cells run in each of the sandboxes that contain."""
    if request.param == "bubblewrap":
        yield farm
        return
    engine, image = (request.getfixturevalue(name) for name in ("docker_engine", "docker_image"))
    box = Docker(work_root, image, engine.url)
    yield partial(farm, sandbox=box)
    box.close()


def test_a_session_and_its_tools_see_the_arms_assets_and_change_nothing_of_them(anywhere: Make, run: Run) -> None:
    cell = anywhere(
        {"run": {"command": SEES, "must_succeed": True}},
        {"tool_run": {"command": SEES}},
        {"tool_run": {"command": f"{SEES} && ! {WRITES} && touch /cell/ws/the-tool-was-here"}},
        {"run": {"command": f"! {WRITES} && [ -e the-tool-was-here ]", "must_succeed": True}},
        assets={"tools": TOOLS},
    )
    assert run(cell) is LineEnd.RECORDED
    assert the_session(cell).problem is None, cell.artifact("session.work.stderr")
    ((laid, *more),) = [
        list(cell.root.glob(f"assets/{digest}/server.py")) for digest in cell.plan.arms[0].assets.values()
    ]
    assert (laid.read_text(), more) == (TOOLS["server.py"], [])


def test_no_check_sees_an_arms_assets(farm: Make, run: Run) -> None:
    cell = farm({"answer": {"text": "done"}}, assets={"tools": TOOLS}, oracle=says("! [ -e /cell/assets ]"))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.oracle is not None
    assert evidence.oracle.correct


def test_an_arm_without_assets_sees_none(farm: Make, run: Run) -> None:
    cell = farm({"run": {"command": "! [ -e /cell/assets ]", "must_succeed": True}})
    run(cell)
    assert the_session(cell).problem is None


def test_a_server_of_the_session_sees_the_arms_assets_and_writes_no_workspace(anywhere: Make, run: Run) -> None:
    serves = f"! touch /cell/ws/made && ! touch /cell/out/made && [ -z $FARM_OUT ] && {SEES}"
    views = "cat /cell/skills/house/skills/server.py && ! touch /cell/skills/house/skills/new"
    cell = anywhere(
        {"run": {"command": f"/.server sh -c '{serves}'", "must_succeed": True}},
        {
            "run": {
                "command": f"{views} && cat ~/.deep/er/tools/server.py && touch /cell/ws/made ~/.deep/er/own",
                "must_succeed": True,
            }
        },
        {"run": {"command": f"/.server sh -c '{views} && [ -e /cell/ws/made ]'", "must_succeed": True}},
        assets={"tools": TOOLS},
        plugins=Plugins({**GIVEN, "agents": {"scripted": ServingAgent}}),
    )
    assert run(cell) is LineEnd.RECORDED
    assert the_session(cell).problem is None, cell.artifact("session.work.stderr")
