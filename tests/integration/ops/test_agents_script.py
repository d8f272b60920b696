"""ops/agents.sh: real npm and tar, and packages that stand in a folder instead of a registry."""

import base64
import hashlib
import platform
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

SCRIPT = Path(__file__).parents[3] / "ops" / "agents.sh"
MACHINE = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine(), platform.machine())


ASKS = """#!/bin/sh
exec "${0%/*}/python" -I -c 'import an_agent, importlib.metadata as m; print(m.version("an-agent"))'
"""


@dataclass
class Bench:
    """A copy of the script with pins of its own."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "agents"

    def package(self, version: str, says: str) -> str:
        """Make a package that says `says`; give its integrity."""
        home = self.root / "package"
        shutil.rmtree(home, ignore_errors=True)
        (home / "vendor" / "bin").mkdir(parents=True)
        (home / "package.json").write_text(f'{{"name": "an-agent", "version": "{version}"}}')
        (home / "unwanted").write_text("x")
        program = home / "vendor" / "bin" / "agent"
        program.write_text(f"#!/bin/sh\necho '{says}'\n")
        program.chmod(0o755)
        packed = subprocess.run(["npm", "pack", home, "--silent"], cwd=self.root, check=True, capture_output=True)
        digest = hashlib.sha512((self.root / packed.stdout.decode().strip()).read_bytes()).digest()
        return "sha512-" + base64.b64encode(digest).decode()

    def pin(self, version: str, integrity: str, machine: str = MACHINE, kind: str = "an-agent") -> None:
        (self.root / "ops" / "agents").mkdir(parents=True, exist_ok=True)
        shutil.copy(SCRIPT, self.root / "ops")
        line = f"{kind} {version} {machine} {self.root}/package 2 bin/agent {integrity} package/vendor/bin\n"
        with (self.root / "ops" / "agents" / "pins.txt").open("a") as pins:
            pins.write(f"# a remark\n{line}")

    def pin_lock(self, version: str) -> None:
        """Pin a Python package by a lock that names its wheel here."""
        wheel = self.root / f"an_agent-{version}-py3-none-any.whl"
        metadata = f"an_agent-{version}.dist-info"
        with ZipFile(wheel, "w") as packed:
            packed.writestr("an_agent.py", "")
            packed.writestr(f"{metadata}/METADATA", f"Metadata-Version: 2.1\nName: an-agent\nVersion: {version}\n")
            packed.writestr(f"{metadata}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            packed.writestr(f"{metadata}/RECORD", "")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        (self.root / "ops" / "agents").mkdir(parents=True)
        shutil.copy(SCRIPT, self.root / "ops")
        (self.root / "ops" / "agents" / "an-agent.lock").write_text(
            f"an-agent @ file://{wheel} --hash=sha256:{digest}\n"
        )
        (self.root / "ops" / "agents" / "an-agent.sh").write_text(ASKS)
        (self.root / "ops" / "agents" / "pins.txt").write_text(f"an-agent {version} any pypi - bin/an-agent -\n")

    def run(self, *words: str, agents: str = "", work_root: str = "") -> subprocess.CompletedProcess[str]:
        command = [
            "env",
            f"FARM_AGENTS={agents}",
            f"FARM_WORK_ROOT={work_root}",
            "sh",
            self.root / "ops" / "agents.sh",
            *words,
        ]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    def listing(self) -> list[str]:
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file())


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


WHOLE = ["an-agent/1.2.3/.installed", "an-agent/1.2.3/bin/agent"]


def test_what_is_wanted_of_a_package_is_put_in_its_place_and_nothing_else(bench: Bench) -> None:
    bench.pin("1.2.3", bench.package("1.2.3", "an-agent 1.2.3"))
    ran = bench.run(f"{bench.folder}/")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert bench.listing() == WHOLE
    assert list(bench.folder.iterdir()) == [bench.folder / "an-agent"]


def test_a_second_run_does_nothing(bench: Bench) -> None:
    bench.pin("1.2.3", bench.package("1.2.3", "an-agent 1.2.3"))
    bench.run(f"{bench.folder}/")
    before = (bench.folder / WHOLE[1]).stat()
    shutil.rmtree(bench.root / "package")
    again = bench.run(agents=str(bench.folder))
    assert (again.returncode, again.stdout) == (0, "")
    assert (bench.folder / WHOLE[1]).stat() == before


def test_without_a_folder_it_installs_where_workers_look(bench: Bench) -> None:
    bench.pin("1.2.3", bench.package("1.2.3", "an-agent 1.2.3"))
    assert bench.run("an-agent", work_root=str(bench.root)).returncode == 0
    assert bench.listing() == WHOLE


def test_another_tarball_than_the_pinned_one_is_refused_and_leaves_nothing(bench: Bench) -> None:
    bench.pin("1.2.3", bench.package("1.2.3", "an-agent 1.2.3"))
    bench.package("1.2.3", "evil 1.2.3")
    ran = bench.run(f"{bench.folder}/")
    assert ran.returncode == 2
    assert "is not the pinned one: its sha512 differs; nothing was installed" in ran.stderr
    assert list(bench.folder.iterdir()) == []


def test_a_program_that_says_another_version_is_refused_and_leaves_nothing(bench: Bench) -> None:
    bench.pin("1.2.3", bench.package("1.2.3", "an-agent 1.2.34"))
    ran = bench.run(f"{bench.folder}/")
    assert (ran.returncode, ran.stderr) == (2, "agents: an-agent says 'an-agent 1.2.34' where 1.2.3 is pinned\n")
    assert list(bench.folder.iterdir()) == []


def test_a_package_that_npm_does_not_find_is_refused_with_what_npm_says(bench: Bench) -> None:
    bench.pin("1.2.3", bench.package("1.2.3", "an-agent 1.2.3"))
    shutil.rmtree(bench.root / "package")
    ran = bench.run(f"{bench.folder}/")
    assert ran.returncode == 2
    assert "npm could not fetch" in ran.stderr
    assert list(bench.folder.iterdir()) == []


def test_what_was_not_finished_and_what_is_pinned_anew_is_replaced(bench: Bench) -> None:
    bench.pin("1.2.3", bench.package("1.2.3", "an-agent 1.2.3"))
    (bench.folder / "an-agent" / "1.2.3").mkdir(parents=True)
    (bench.folder / "an-agent" / "1.2.3" / "half").touch()
    assert bench.run(f"{bench.folder}/").returncode == 0
    assert bench.listing() == WHOLE


def test_only_the_named_kinds_are_installed_and_a_wrong_name_is_told(bench: Bench) -> None:
    integrity = bench.package("1.2.3", "an-agent 1.2.3")
    bench.pin("1.2.3", integrity)
    bench.pin("1.2.3", integrity, kind="other")
    bench.pin("1.2.3", integrity, kind="elsewhere", machine="vax")
    assert bench.run(f"{bench.folder}/", "other").returncode == 0
    assert [path.name for path in bench.folder.iterdir()] == ["other"]
    for name, says in (
        ("othr", "there is no agent 'othr' in"),
        ("elsewhere", "there is no 'elsewhere' for this machine"),
    ):
        ran = bench.run(f"{bench.folder}/", name)
        assert ran.returncode == 2
        assert says in ran.stderr


def test_a_part_is_put_beside_its_program_and_what_is_pinned_anew_is_replaced(bench: Bench) -> None:
    integrity = bench.package("1.2.3", "an-agent 1.2.3")
    pins = bench.root / "ops" / "agents" / "pins.txt"
    bench.pin("1.2.3", integrity)
    program = pins.read_text()
    part = f"an-agent 1.2.3 {MACHINE} {bench.root}/package 1 - {integrity} package/unwanted\n"
    pins.write_text(part + program)
    assert bench.run(f"{bench.folder}/").returncode == 0
    assert bench.listing() == [*WHOLE, "an-agent/1.2.3/unwanted"]
    pins.write_text(program)
    assert bench.run(f"{bench.folder}/").returncode == 0
    assert bench.listing() == WHOLE


def test_what_a_lock_names_runs_wherever_it_is_moved(bench: Bench) -> None:
    bench.pin_lock("1.2.3")
    ran = bench.run(f"{bench.folder}/", "an-agent")
    assert (ran.returncode, ran.stderr) == (0, "")
    moved = bench.folder.rename(bench.root / "elsewhere") / "an-agent" / "1.2.3"
    said = subprocess.run([moved / "bin" / "an-agent", "--version"], check=True, capture_output=True, text=True)
    assert said.stdout == "1.2.3\n"
    assert {path.name for path in (moved / "bin").iterdir() if path.is_file() and not path.is_symlink()} == {"an-agent"}


def test_another_wheel_than_the_locked_one_is_refused_and_leaves_nothing(bench: Bench) -> None:
    bench.pin_lock("1.2.3")
    with ZipFile(bench.root / "an_agent-1.2.3-py3-none-any.whl", "a") as packed:
        packed.writestr("evil.py", "")
    ran = bench.run(f"{bench.folder}/")
    assert ran.returncode == 2
    assert "pip could not install what" in ran.stderr
    assert list(bench.folder.iterdir()) == []
