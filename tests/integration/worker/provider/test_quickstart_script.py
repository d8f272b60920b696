"""The example script solves the quickstart's tasks: a tiny agent does what it is told, and the hidden checks judge."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from farm.model import Wire
from tests.builders import wires
from tests.services.provider import serving
from worker.provider.load import load

EXAMPLES = Path(__file__).parents[4] / "ops" / "examples"
QUICKSTART = EXAMPLES / "quickstart"
MOST_TURNS = 10
OVERLAY = (QUICKSTART / "overlay" / "dedicated-tools.md").read_text()


def checkout(repository: str, folder: Path) -> Path:
    bundle = QUICKSTART / "repositories" / f"{repository}.bundle"
    subprocess.run(["git", "clone", "--quiet", "--branch", "main", bundle, folder], check=True)
    return folder


def perform(url: str, prompt: str, instructions: str, workspace: Path) -> list[str]:
    """Be an agent with one tool, on the chat wire; give what was run, and the last word."""
    said: list[dict[str, Any]] = [{"role": "system", "content": instructions}, {"role": "user", "content": prompt}]
    ran = []
    for _ in range(MOST_TURNS):
        body = {"model": "m1", "messages": said, "tools": wires.tool_offers(Wire.CHAT, bash=["command"])}
        answer = wires.send(url, "/v1/chat/completions", json.dumps(body).encode())
        message = answer.json["choices"][0]["message"]
        said.append(message)
        if not message.get("tool_calls"):
            return [*ran, message["content"]]
        for call in message["tool_calls"]:
            command = json.loads(call["function"]["arguments"])["command"]
            done = subprocess.run(["sh", "-c", command], cwd=workspace, capture_output=True, text=True, check=True)
            ran.append(command)
            said.append({"role": "tool", "tool_call_id": call["id"], "content": done.stdout})
    raise AssertionError("the script does not come to an end")


@pytest.mark.parametrize("instructions", ["Be good.", OVERLAY], ids=["plain", "overlay"])
@pytest.mark.parametrize(("task", "repository"), [("fix-percentile", "latency"), ("add-months", "ledger")])
def test_a_task_is_solved(task: str, repository: str, instructions: str, tmp_path: Path) -> None:
    workspace = checkout(repository, tmp_path / "ws")
    prompt = (QUICKSTART / "prompts" / f"{task}.md").read_text()
    with serving(load(EXAMPLES / "agents" / "provider.yaml")) as provider:
        perform(provider.url, prompt, instructions, workspace)
    check = [sys.executable, "-B", "-s", QUICKSTART / "oracles" / task / "check.py"]
    subprocess.run(check, cwd=workspace, check=True)


@pytest.mark.parametrize("instructions", ["Be good.", OVERLAY], ids=["plain", "overlay"])
def test_a_question_is_answered(instructions: str, tmp_path: Path) -> None:
    workspace = checkout("beacon", tmp_path / "ws")
    prompt = (QUICKSTART / "prompts" / "find-settings.md").read_text()
    with serving(load(EXAMPLES / "agents" / "provider.yaml")) as provider:
        *_, answer = perform(provider.url, prompt, instructions, workspace)
    expected = json.loads((QUICKSTART / "reference" / "find-settings" / "answer.json").read_text())
    assert json.loads(answer) == expected


@pytest.mark.parametrize("task", ["fix-percentile", "find-settings"])
def test_the_overlay_saves_commands(task: str, tmp_path: Path) -> None:
    repository = {"fix-percentile": "latency", "find-settings": "beacon"}[task]
    prompt = (QUICKSTART / "prompts" / f"{task}.md").read_text()
    with serving(load(EXAMPLES / "agents" / "provider.yaml")) as provider:
        plain = perform(provider.url, prompt, "Be good.", checkout(repository, tmp_path / "plain"))
        saving = perform(provider.url, prompt, OVERLAY, checkout(repository, tmp_path / "saving"))
    assert len(saving) - 1 <= 0.8 * (len(plain) - 1)
