"""A host without a git that serves is told so, with the way out."""

from pathlib import Path

import pytest

from worker.health.git_probe import git_probe


def test_this_hosts_git_serves() -> None:
    probe = git_probe()
    assert (probe.ok, probe.fix) == (True, "")
    assert probe.detail.startswith("git version 2.")


def test_a_host_without_git_is_told_how_to_get_it(tmp_path: Path) -> None:
    probe = git_probe({"PATH": str(tmp_path)})
    assert (probe.ok, probe.detail) == (False, "not found")
    assert "apt-get install git" in probe.fix


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("echo git version 2.30.2", "'git version 2.30.2' is too old"),
        ("echo git version 1.99.0", "'git version 1.99.0' is too old"),
        ("echo no >&2; exit 3", "git --version failed: no"),
    ],
)
def test_a_git_that_does_not_serve_is_told_with_what_it_said(tmp_path: Path, text: str, detail: str) -> None:
    program = tmp_path / "git"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    probe = git_probe({"PATH": str(tmp_path)})
    assert (probe.ok, probe.detail) == (False, detail)
    assert "git 2.32 or later" in probe.fix


def test_a_later_release_of_another_make_serves(tmp_path: Path) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\necho 'git version 3.0.1 (Somebody Git-154)'\n")
    program.chmod(0o755)
    assert git_probe({"PATH": str(tmp_path)}).ok
