"""Host facts: read from where the kernel tells them; only a stranger that gets crash dumps is refused."""

from pathlib import Path

import pytest

from sandbox.backends import host_facts

ROOT = Path("/boxes/work")
MOUNTS = "24 1 0:22 / /sys/fs/cgroup rw - {kind} {kind} rw\n"


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    for folder in ("sys/kernel", "sys/user", "sys/dev/tty", "self"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "meminfo").write_text("MemTotal: 8 kB\nSwapTotal:       4 kB\n")
    (tmp_path / "self/mountinfo").write_text(MOUNTS.format(kind="cgroup2"))
    (tmp_path / "sys/user/max_user_namespaces").write_text("127\n")
    return tmp_path


def test_what_is_there_is_told_and_what_is_not_is_none(proc: Path) -> None:
    facts = host_facts.read(ROOT, proc)
    assert facts["max_user_namespaces"] == "127"
    assert facts["legacy_tiocsti"] is None
    assert facts["swap_bytes"] == 4096
    assert facts["cgroups"] == "v2"


def test_the_file_system_is_that_of_the_deepest_and_last_mount(proc: Path) -> None:
    places = (("/", "ext4"), ("/boxes", "xfs"), ("/boxes", "btrfs"), ("/boxes/w", "tmpfs"))
    lines = [f"24 1 0:22 / {place} rw - {kind} {kind} rw\n" for place, kind in places]
    (proc / "self/mountinfo").write_text("".join(lines))
    assert host_facts.read(ROOT, proc)["root_file_system"] == "btrfs"


@pytest.mark.parametrize(("kinds", "told"), [(["cgroup"], "v1"), (["cgroup", "cgroup2"], "v1 and v2"), ([], "none")])
def test_the_version_of_control_groups_is_told(proc: Path, kinds: list[str], told: str) -> None:
    lines = "".join(MOUNTS.format(kind=kind) for kind in [*kinds, "ext4"])
    (proc / "self/mountinfo").write_text(lines)
    assert host_facts.read(ROOT, proc)["cgroups"] == told


@pytest.mark.parametrize(
    ("pattern", "is_fit"),
    [
        ("core\n", True),
        ("\n", True),
        ("|/usr/lib/systemd/systemd-coredump %P %u\n", True),
        ("|/usr/share/apport/apport -p%p\n", True),
        ("|/opt/collect %p\n", False),
        ("|\n", False),
    ],
)
def test_only_a_known_program_may_be_given_crash_dumps(proc: Path, pattern: str, *, is_fit: bool) -> None:
    (proc / "sys/kernel/core_pattern").write_text(pattern)
    broken = [probe for probe in host_facts.probes(ROOT, proc) if not probe.ok]
    assert [probe.name for probe in broken] == ([] if is_fit else ["crash dumps"])
    assert all("core_pattern" in probe.fix for probe in broken)


def test_a_host_that_tells_nothing_of_crash_dumps_is_fit(proc: Path) -> None:
    assert all(probe.ok for probe in host_facts.probes(ROOT, proc))
