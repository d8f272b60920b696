"""A sweep with a budget of tokens, against a provider that answers from a script."""

import json

from tests.builders.farm_command import Desk, a_repository
from tests.builders.worker.asking import asks
from tests.services.provider import serving

OPEN = 6
SCRIPT = """\
rules:
  - name: any
    reply: {text: Good day., usage: {ordinary_input: 60, cache_read: 0, cache_write: 0, output: 40}}
"""


def test_a_used_up_budget_leaves_the_sweep_open_and_a_raised_one_finishes_it(desk: Desk) -> None:
    (desk.here / "repository").mkdir()
    a_repository(desk.here / "repository", {"README": "A repository.\n"})
    agent = {"kind": "command", **asks("m").options}
    arms = [
        {"name": name, "role": role, "provider": "acme", "agent": agent}
        for name, role in (("old", "incumbent"), ("new", "candidate"))
    ]
    task = {
        "id": "ask",
        "repository": {"path": "repository"},
        "prompt": "Say something.",
        "oracle": {"kind": "command", "argv": ["true"]},
    }
    sweep = {"name": "paid", "trials": 3, "tasks": [task], "arms": arms}
    sweep |= {"cell_budget": {"tokens": 500}, "budget": {"tokens": 800}}
    (desk.here / "sweep.yaml").write_text(json.dumps(sweep))
    with serving(SCRIPT) as provider:
        place = {"wires": ["anthropic"], "url": provider.url, "key_env": "ACME_KEY"}
        (desk.here / "providers.yaml").write_text(json.dumps({"acme": place}))
        env = {"FARM_PROVIDERS": str(desk.here / "providers.yaml"), "ACME_KEY": "sk-planted"}
        first = desk.farm("run", "sweep.yaml", "--slots", "2", env=env)
        assert first.code == OPEN, first
        assert "deferred cells: 2; they wait for a higher budget (400 tokens of 800 tokens used)" in first.err
        assert len(provider.requests) == 4
        (folder,) = (desk.here / ".farm/store/sweeps").iterdir()
        assert "  budget: 400 tokens of 800 tokens used\n" in desk.farm("status", folder.name).out
        more = desk.farm("resume", folder.name, "--slots", "2", "--budget-tokens", "2000", env=env)
        assert more.code == 0, more
        assert len(provider.requests) == 6
    table = desk.farm("durations", folder.name)
    assert table.code == 0, table
    assert table.out.startswith('tasks:\n  ask:\n    new: {"p50_s": ')
    assert desk.farm("resume", folder.name, "--budget", "nothing").code == 2
