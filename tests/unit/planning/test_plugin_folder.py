"""Plug-ins packed by an allow-list: what comes in, what stays behind, and what is refused."""

import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.model import PluginFolder
from farm.planning.plugin_folder import MOST_BYTES, MOST_FILE_BYTES, pack_plugin

MANIFEST = ".claude-plugin/plugin.json"
TOKEN = "ghp_" + "a1" * 18
PLUGIN = PluginFolder(folder="ce", version="1.2.3", skills=("plan", "work"))


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    put(tmp_path, MANIFEST, json.dumps({"name": "ce", "version": "1.2.3"}))
    put(tmp_path, "skills/plan/SKILL.md", "Plan.\n")
    put(tmp_path, "skills/work/SKILL.md", "Work.\n")
    put(tmp_path, "scripts/run.sh", "#!/bin/sh\n").chmod(0o755)
    return tmp_path


def put(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def packed(folder: Path) -> dict[str, int]:
    """Give the packed files' paths with their modes."""
    with tarfile.open(fileobj=io.BytesIO(pack_plugin(folder, PLUGIN))) as archive:
        return {member.name: member.mode for member in archive if member.isreg()}


def test_manifests_skills_scripts_and_assets_come_in(plugin: Path) -> None:
    put(plugin, "assets/logo.svg", "<svg/>")
    put(plugin, ".codex-plugin/plugin.json", '{"version": "1.2.3"}')
    assert packed(plugin) == {
        ".claude-plugin/plugin.json": 0o644,
        ".codex-plugin/plugin.json": 0o644,
        "assets/logo.svg": 0o644,
        "scripts/run.sh": 0o755,
        "skills/plan/SKILL.md": 0o644,
        "skills/work/SKILL.md": 0o644,
    }


@pytest.mark.parametrize(
    "path",
    [
        *("README.md", "agents/a.md", "hooks/hooks.json", ".mcp.json", ".claude-plugin/marketplace.json", "src/x.py"),
        *("skills/plan/.git/config", "skills/plan/tests/a.py", "scripts/.ssh/config", "scripts/__pycache__/a.pyc"),
        *(".github/workflows/x.yml", ".env", ".aws/credentials"),
    ],
)
def test_all_else_stays_behind(plugin: Path, path: str) -> None:
    before = packed(plugin)
    put(plugin, path, TOKEN)
    assert packed(plugin) == before


def a_link(folder: Path) -> None:
    (folder / "skills/plan/more.md").symlink_to("SKILL.md")


def a_linked_folder(folder: Path) -> None:
    (folder / "assets").symlink_to("skills")


def a_linked_manifest_folder(folder: Path) -> None:
    (folder / ".codex-plugin").symlink_to(".claude-plugin")


def a_file_in_place_of_a_folder(folder: Path) -> None:
    put(folder, "assets", "x")


def no_manifest(folder: Path) -> None:
    (folder / MANIFEST).unlink()


def a_manifest_that_is_no_json(folder: Path) -> None:
    put(folder, MANIFEST, "version: 1.2.3")


def another_version(folder: Path) -> None:
    put(folder, MANIFEST, '{"version": "1.2.4"}')


def another_version_in_its_other_manifest(folder: Path) -> None:
    put(folder, ".codex-plugin/plugin.json", "[]")


def a_skill_less(folder: Path) -> None:
    (folder / "skills/work/SKILL.md").unlink()


def a_token(folder: Path) -> None:
    put(folder, "scripts/publish.sh", f"TOKEN={TOKEN}\n")


def an_environment_file(folder: Path) -> None:
    put(folder, "scripts/.env.local", "A=1\n")


def a_private_key(folder: Path) -> None:
    put(folder, "assets/id_ed25519", "x")


def a_large_file(folder: Path) -> None:
    put(folder, "assets/a.bin", "x" * (MOST_FILE_BYTES + 1))


def too_much_in_all(folder: Path) -> None:
    for number in range(MOST_BYTES // MOST_FILE_BYTES + 1):
        put(folder, f"assets/{number}", "x" * MOST_FILE_BYTES)


def a_name_that_can_not_be_printed(folder: Path) -> None:
    put(folder, "assets/a\nb", "x")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (a_link, "no regular file"),
        (a_linked_folder, "a symbolic link"),
        (a_linked_manifest_folder, "a symbolic link"),
        (a_file_in_place_of_a_folder, "is no folder"),
        (no_manifest, "has no manifest"),
        (a_manifest_that_is_no_json, "is no JSON"),
        (another_version, "says version '1.2.4'"),
        (another_version_in_its_other_manifest, "says version None"),
        (a_skill_less, "has no skills/work/SKILL.md"),
        (a_token, "what looks like a secret"),
        (an_environment_file, "called as secrets are"),
        (a_private_key, "called as secrets are"),
        (a_large_file, "above the 2097152 allowed"),
        (too_much_in_all, "more than 2048 files or 16777216 bytes"),
        (a_name_that_can_not_be_printed, "can't be printed"),
    ],
)
def test_what_may_not_be_in_a_plug_in_is_refused(plugin: Path, change: Callable[[Path], None], words: str) -> None:
    change(plugin)
    with pytest.raises(SpecError) as caught:
        pack_plugin(plugin, PLUGIN)
    assert words in str(caught.value)
    assert TOKEN not in str(caught.value)


def test_the_bytes_are_the_same_whatever_else_lies_about(plugin: Path) -> None:
    before = pack_plugin(plugin, PLUGIN)
    put(plugin, "notes.md", "x")
    assert pack_plugin(plugin, PLUGIN) == before


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="is no folder"):
        pack_plugin(tmp_path / "nowhere", PLUGIN)
