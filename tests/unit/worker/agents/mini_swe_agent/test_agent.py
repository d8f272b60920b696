"""How mini-swe-agent is started."""

import subprocess

import jinja2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from farm.errors import SpecError
from farm.model import Wire
from tests.builders.worker.recorded import a_request
from worker.agents.mini_swe_agent import MiniSweAgent
from worker.session import AgentProgram

SETTINGS = ".farm/settings.yaml"


def an_agent(**options):
    return MiniSweAgent({"model": "farm-x", **options})


def launched(agent=None, wire=Wire.CHAT, **request):
    return (agent or an_agent()).launch(a_request(**request, wire=wire))


def settings(agent=None, **request):
    """Read the file of settings as mini-swe-agent does."""
    return yaml.safe_load(launched(agent, **request).home_files[SETTINGS])


def test_a_plain_arm_makes_these_settings() -> None:
    assert settings() == {
        "run": {"task": "Fix it."},
        "agent": {"mode": "yolo", "confirm_exit": False, "cost_limit": 0, "step_limit": 0},
        "environment": {"timeout": 30},
        "model": {
            "model_name": "openai/farm-x",
            "cost_tracking": "ignore_errors",
            "model_kwargs": {"max_retries": 0, "timeout": 300},
        },
    }


def test_it_runs_isolated_so_that_the_workspace_is_no_part_of_it() -> None:
    launch = launched()
    assert launch.argv[:3] == ("/opt/agent/bin/python", "-I", "-c")
    assert launch.argv[4:] == (
        *("-c", "mini.yaml", "-c", "/home/agent/.farm/settings.yaml"),
        *("-o", "/home/agent/.farm/trajectory.json"),
    )
    assert launch.stdin == b""


def test_what_it_says_is_kept_apart_from_its_trajectory(tmp_path) -> None:
    """Run its start with a program in its place that talks, and writes a trajectory."""
    package = tmp_path / "minisweagent" / "run"
    package.mkdir(parents=True)
    said = tmp_path / "trajectory.json"
    (package / "mini.py").write_text(
        f"def app():\n print('to people')\n open({str(said)!r}, 'w').write('told')\n raise SystemExit(3)"
    )
    start = launched().argv[3].replace("/home/agent/.farm/trajectory.json", str(said))
    done = subprocess.run(("/usr/bin/python3", "-c", start), cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, b"told", b"to people\n")


@pytest.mark.parametrize(("wire", "name"), [(Wire.CHAT, "openai/farm-x"), (Wire.ANTHROPIC, "anthropic/farm-x")])
def test_it_speaks_either_wire_at_the_door(wire: Wire, name: str) -> None:
    env = launched(wire=wire).env
    assert settings(wire=wire)["model"]["model_name"] == name
    assert (env["OPENAI_API_BASE"], env["ANTHROPIC_API_BASE"]) == ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080")
    assert {env["OPENAI_API_KEY"], env["ANTHROPIC_API_KEY"]} == {"cellfarm-holds-the-real-key"}
    assert MiniSweAgent.wires == (Wire.CHAT, Wire.ANTHROPIC)


def test_caps_and_retries_are_those_of_the_arm() -> None:
    agent = an_agent(most_turns=3, command_s=600, retries=0)
    assert (settings(agent)["agent"]["step_limit"], settings(agent)["environment"]["timeout"]) == (3, 600)
    assert launched(agent).env["MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT"] == "1"


def test_the_program_is_pinned_and_so_is_the_model() -> None:
    agent = an_agent(version="2.4.5")
    assert agent.program == AgentProgram("mini-swe-agent", "2.4.5")
    assert launched(agent).models == ("farm-x",)


@given(prompt=st.text(), instructions=st.text())
def test_any_prompt_and_any_instructions_are_read_as_they_are(prompt: str, instructions: str) -> None:
    found = settings(prompt=prompt, instructions=instructions)
    assert found["run"]["task"] == prompt
    told = found["agent"]["system_template"].replace("{{ '{' }}", "{")
    assert told == f"You are a helpful assistant that can interact with a computer.\n\n{instructions}"


@pytest.mark.parametrize("text", ["{{ task }}", "{% if %}", "{# no", "{{{{", "{{ '{' }}", "a } %} }}"])
def test_instructions_are_no_template(text: str) -> None:
    template = settings(instructions=text)["agent"]["system_template"]
    assert jinja2.Template(template).render().endswith(f"\n\n{text}")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": None}, "model"),
        ({"version": "latest"}, "version"),
        ({"most_turns": 0}, "most_turns"),
        ({"allowed_tools": ["bash"]}, "allowed_tools"),
        ({"env": {}}, "env"),
    ],
)
def test_a_wrong_option_is_one_clear_error(options: dict, says: str) -> None:
    with pytest.raises(SpecError, match="the agent 'mini-swe-agent', ") as caught:
        an_agent(**options)
    assert says in str(caught.value)
