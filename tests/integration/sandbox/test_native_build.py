"""What is compiled: from an installed wheel as from a checkout, and never twice in vain."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import sandbox
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.errors import SandboxUnavailableError
from sandbox.process.tools import prepare, prepare_container
from tests.builders.sandbox_rooms import work_root

CHECKOUT = Path(sandbox.__file__).parents[1]
BUILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import sandbox
from sandbox.process.tools import prepare, prepare_container, prepare_tool
assert sandbox.__file__.startswith(sys.argv[1]), sandbox.__file__
folder = Path(sys.argv[2])
tools = prepare(folder)
print(tools.init_kind, tools.launcher_kind, tools.spawner_kind, prepare_tool(folder).kind, tools.not_native)
prepare_container(folder)
"""


def installed(folder):
    """Unpack the wheel of a copy of this checkout: a build writes into its source."""
    source = folder / "source"
    for name in ("farm", "worker", "sandbox"):
        shutil.copytree(CHECKOUT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(CHECKOUT / name, source)
    wheel = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    subprocess.run([*wheel, "--wheel-dir", str(folder), str(source)], cwd=folder, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    with zipfile.ZipFile(found) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


def test_an_installed_wheel_builds_all_of_its_native_programs(tmp_path):
    words = (sys.executable, "-I", "-c", BUILD, str(installed(tmp_path)), str(tmp_path / "bin"))
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd="/")
    assert (done.stdout, done.stderr) == ("native native native native None\n", "")


@pytest.fixture
def broken(tmp_path):
    """A compiler that notes each call and fails."""
    compiler = tmp_path / "cc"
    compiler.write_text(
        f"#!/bin/sh\necho call >>{tmp_path}/calls\necho 'init.c:7: forwarder.h: not there' >&2\nexit 4\n"
    )
    compiler.chmod(0o755)
    return compiler


def test_a_build_that_failed_is_not_tried_again_in_this_process(broken, tmp_path):
    for folder in ("one", "one", "two"):
        assert prepare(tmp_path / folder, str(broken)).init_kind == "python"
    assert (tmp_path / "calls").read_text().count("call") == 2 * 3  # static or not, of three programs


def test_the_facts_tell_why_stand_ins_stand_in(broken):
    told = Bubblewrap(work_root() / "work-broken", str(broken)).facts()
    assert (told["init"], told["not_native"]) == ("python", f"{broken} failed (4): init.c:7: forwarder.h: not there")
    assert Bubblewrap(work_root() / "work-None").facts()["not_native"] is None


def test_a_containers_init_that_can_not_be_built_is_told_in_the_compilers_words(broken, tmp_path):
    with pytest.raises(SandboxUnavailableError, match=r"forwarder\.h: not there"):
        prepare_container(tmp_path / "bin", str(broken))
    with pytest.raises(SandboxUnavailableError, match="apt-get install gcc"):
        prepare_container(tmp_path / "bin", "")
