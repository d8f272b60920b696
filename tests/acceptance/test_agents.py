"""Whole sweeps with the real Claude Code and the real Codex, and no model: the provider is the scripted one."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pytest

from farm.model import Outcome, RequestEnd, TokenUse
from tests.builders.farm_command import Desk
from tests.services.provider import ScriptedProvider, serving
from worker.provider.record import digest_of_key

EXAMPLES = Path(__file__).parents[2] / "ops/examples/agents"
KEY = "sk-ant-planted-in-the-settings-of-a-worker"


@contextmanager
def answering(desk: Desk, agents: Path) -> Iterator[tuple[ScriptedProvider, dict[str, str]]]:
    """Answer from the example's script; give the provider, and a worker's settings that name it and a key."""
    with serving((EXAMPLES / "provider.yaml").read_text()) as provider:
        place = {"wires": ["anthropic", "responses"], "url": provider.url, "key_env": "ACME_KEY"}
        (desk.here / "providers.yaml").write_text(json.dumps({"scripted": place}))
        yield (
            provider,
            {"FARM_PROVIDERS": str(desk.here / "providers.yaml"), "FARM_AGENTS": str(agents), "ACME_KEY": KEY},
        )


def outcomes(desk: Desk) -> dict[str, Outcome]:
    found = desk.here.glob(".farm/store/sweeps/*/attempts/*/1/outcome.json")
    return {path.parent.parent.name: Outcome.model_validate_json(path.read_bytes()) for path in found}


@pytest.fixture
def ended(desk: Desk, agents_folder: Path) -> ScriptedProvider:
    """Run the example to its end."""
    with answering(desk, agents_folder) as (provider, env):
        ran = desk.farm("run", EXAMPLES / "sweep.yaml", "--slots", "2", env=env)
    assert ran.code == 0, ran
    assert "overlay v4: PASS" in ran.out, ran
    return provider


def test_the_quickstart_through_the_real_agents_passes_is_metered_and_tells_nobody_the_key(
    desk: Desk, ended: ScriptedProvider
) -> None:
    found = outcomes(desk)
    assert len(found) == 9
    for cell, outcome in found.items():
        assert outcome.evidence is not None, (cell, outcome.fault)
        assert outcome.evidence.oracle.correct, cell
        (session,) = outcome.evidence.sessions
        assert session.problem is None, (cell, session.problem)
        door = session.door
        assert door is not None
        assert set(door.ends) == {RequestEnd.ANSWERED}, cell
        requests = door.ends[RequestEnd.ANSWERED]
        assert [one.requests for one in door.models] == [requests]
        declared = TokenUse(
            whole=10_500 * requests,
            ordinary_input=1200 * requests,
            cache_read=9000 * requests,
            cache_write=300 * requests,
            output=90 * requests,
        )
        assert door.tokens.model_copy(update={"reasoning": None, "cache_write_1h": None}) == declared, cell
    claude = next(iter(found["fix-percentile.claude.1"].evidence.sessions))  # type: ignore[union-attr]  # looked at above
    assert claude.door is not None
    assert claude.cost_usd is not None
    assert abs(claude.cost_usd - (claude.door.cost_usd or 0)) < Decimal("0.000001")

    keys = {value for asked in ended.requests for value in asked.headers.values() if "sha256" in value}
    assert any(digest_of_key(KEY) in value for value in keys), keys
    kept = [path for path in desk.here.rglob("*") if path.is_file()]
    assert [path for path in kept if KEY.encode() in path.read_bytes()] == []

    verified = desk.farm("verify", next(desk.here.glob(".farm/store/sweeps/*")).name)
    assert verified.code == 0, verified


def test_a_machine_without_the_agents_says_so_before_anything_is_stored(desk: Desk) -> None:
    ran = desk.farm("run", EXAMPLES / "sweep.yaml", env={"FARM_AGENTS": str(desk.here / "none")})
    assert ran.code == 2, ran
    assert "no host that works can run arm 'claude': it lacks claude-code 2.1.332, provider scripted" in ran.err
    assert not list(desk.here.glob(".farm/store/sweeps/*"))
