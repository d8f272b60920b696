"""Which agents' programs this host has, by what they say themselves."""

import os
from pathlib import Path

import pytest

from farm.errors import TransientError
from worker.agents.claude_code import agent as claude_code
from worker.agents.codex import agent as codex
from worker.agents.installed import InstalledPrograms
from worker.session import AgentProgram

CLAUDE = AgentProgram("claude-code", "2.1.332")
PINS = Path(__file__).parents[4] / "ops" / "agents" / "pins.txt"


def put(folder: Path, program: AgentProgram, says: str, *, mark: str = "bin/agent x") -> Path:
    """Install a program that says `says`, and counts in a file beside it how often it was asked."""
    place = folder / program.kind / program.version
    (place / "bin").mkdir(parents=True, exist_ok=True)
    executable = place / "bin" / "agent"
    executable.write_text(f'#!/bin/sh\necho x >>"$0.asked"\necho "$1" >"$HOME/trace"\necho "{says}"\n')
    executable.chmod(0o755)
    (place / ".installed").write_text(mark)
    return executable


def test_a_program_that_says_its_version_is_there(tmp_path: Path) -> None:
    put(tmp_path, CLAUDE, "2.1.332 (Claude Code)")
    put(tmp_path, AgentProgram("codex", "0.171.0"), "codex-cli 0.171.0")
    programs = InstalledPrograms(tmp_path)
    assert programs.all() == (CLAUDE, AgentProgram("codex", "0.171.0"))
    assert programs.place(CLAUDE) == tmp_path / "claude-code" / "2.1.332"


def test_a_program_is_asked_once_and_again_when_its_file_changed(tmp_path: Path) -> None:
    executable = put(tmp_path, CLAUDE, "2.1.332")
    programs = InstalledPrograms(tmp_path)
    for _ in range(3):
        programs.place(CLAUDE)
    asked = executable.with_name("agent.asked")
    assert asked.read_text() == "x\n"
    os.utime(executable, ns=(1, 1))
    programs.place(CLAUDE)
    assert asked.read_text() == "x\nx\n"


def test_what_is_not_there_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TransientError) as caught:
        InstalledPrograms(tmp_path).place(CLAUDE)
    assert str(caught.value) == f"this host has no claude-code 2.1.332 below {tmp_path}; run ops/agents.sh"
    assert InstalledPrograms(tmp_path / "nowhere").all() == ()


def test_fact_17_another_version_in_its_place_is_refused(tmp_path: Path) -> None:
    executable = put(tmp_path, CLAUDE, "2.1.197 (Claude Code)")
    programs = InstalledPrograms(tmp_path)
    assert programs.all() == ()
    with pytest.raises(
        TransientError, match=r"says '2\.1\.197 \(Claude Code\)', where claude-code 2\.1\.332 should"
    ) as error:
        programs.place(CLAUDE)
    assert str(executable) in str(error.value)


def test_a_folder_that_was_never_finished_is_not_there(tmp_path: Path) -> None:
    (put(tmp_path, CLAUDE, "2.1.332").parents[1] / ".installed").unlink()
    assert InstalledPrograms(tmp_path).all() == ()


@pytest.mark.parametrize("mark", ["", "/bin/true x", "../agent x", "gone x"])
def test_a_mark_that_leads_nowhere_is_refused(tmp_path: Path, mark: str) -> None:
    put(tmp_path, CLAUDE, "2.1.332", mark=mark)
    with pytest.raises(TransientError, match=r"run ops/agents\.sh"):
        InstalledPrograms(tmp_path).place(CLAUDE)


def test_a_program_that_does_not_run_is_refused(tmp_path: Path) -> None:
    put(tmp_path, CLAUDE, "2.1.332").write_text("#!/bin/sh\nexit 3\n")
    with pytest.raises(TransientError, match="exit status 3"):
        InstalledPrograms(tmp_path).place(CLAUDE)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_tested_versions_are_the_pinned_ones(machine: str) -> None:
    lines = [line.split() for line in PINS.read_text().splitlines() if not line.startswith("#")]
    pinned = {(line[0], line[1]) for line in lines if line[2] == machine}
    tested = {(claude_code.KIND, claude_code.TESTED_VERSION), (codex.KIND, codex.TESTED_VERSION)}
    assert tested <= pinned
