"""`farm provider`: a process that answers from a script and records what it was asked."""

import json
import signal
import subprocess
import sys

import pytest

from farm.model import Wire
from tests.builders import wires
from tests.builders.farm_command import FARM, Desk

SCRIPT = "rules:\n  - name: hello\n    reply: {text: Good day., usage: {output: 3}}\n"


def test_it_answers_records_and_ends_when_it_is_told_to(desk: Desk) -> None:
    (desk.here / "script.yaml").write_text(SCRIPT)
    command = [FARM, "provider", "script.yaml", "--port", "0", "--record", "asked.jsonl"]
    with subprocess.Popen(command, cwd=desk.here, env=desk.env({}), stdout=subprocess.PIPE, text=True) as provider:
        assert provider.stdout is not None
        url = provider.stdout.readline().split()[-1]
        answer = wires.heard(Wire.ANTHROPIC, wires.ask(url, Wire.ANTHROPIC, "hello"), streamed=False)
        recorded = json.loads((desk.here / "asked.jsonl").read_text())
        provider.send_signal(signal.SIGTERM)
        assert provider.wait(timeout=20) == 0
    assert (answer.text, answer.usage) == ("Good day.", {"output_tokens": 3})
    assert (recorded["rule"], recorded["body"]["messages"][0]["content"]) == ("hello", "hello")


@pytest.mark.parametrize(
    ("script", "said"),
    [(SCRIPT.replace("text:", "txt:"), "script.yaml: rules[0].reply.txt"), (None, "script.yaml can't be read")],
)
def test_a_script_that_is_wrong_is_told_in_one_line(desk: Desk, script: str | None, said: str) -> None:
    if script is not None:
        (desk.here / "script.yaml").write_text(script)
    ended = desk.farm("provider", "script.yaml", "--port", "0")
    assert ended.code == 2
    (line,) = ended.error_lines
    assert said in line


def test_with_a_lifeline_it_ends_when_its_starter_does(desk: Desk) -> None:
    (desk.here / "script.yaml").write_text(SCRIPT)
    command = [sys.executable, "-m", "worker.provider", "script.yaml", "--port", "0", "--lifeline"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=desk.here, env=desk.env({}), stdin=pipe, stdout=pipe, text=True) as provider:
        assert provider.stdout is not None
        assert provider.stdin is not None
        assert provider.stdout.readline().split()[-1].startswith("http://")
        assert provider.poll() is None
        provider.stdin.close()
        assert provider.wait(timeout=20) == 0
