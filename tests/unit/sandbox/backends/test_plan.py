"""The mount and namespace plan, as words."""

from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends import plan
from sandbox.spec import Bind, Door, Limits, SandboxSpec

LIMITS = Limits(
    wall_s=1.0,
    memory_bytes=1000,
    processes=9,
    file_size_bytes=2000,
    open_files=30,
    output_bytes=5,
    tmp_bytes=7777,
)
WORKSPACE = Bind(Path("/h/ws"), "/cell/ws", writable=True)
ORACLE = Bind(Path("/h/oracle"), "/cell/oracle")
SPEC = SandboxSpec(argv=("cmd", "-x"), binds=(WORKSPACE, ORACLE), limits=LIMITS, cwd="/cell/ws", env={"KEY": "secret"})
HOST = plan.HostLayout(
    roots=(("/bin", "usr/bin"),),
    etc=Path("/w/etc"),
    init=Path("/w/bin/init"),
    init_words=(),
    can_disable_userns=True,
)
FDS = plan.PlanFds(status=11, seccomp=12)


def words(spec=SPEC, host=HOST, fds=FDS):
    return plan.options(spec, host, fds)


def holds(within, *run):
    return any(within[at : at + len(run)] == run for at in range(len(within)))


def test_sources_that_are_open_are_handed_over_and_named_nowhere():
    within = words(fds=replace(FDS, sources=(7, 8)))
    assert holds(within, "--bind-fd", "7", "/cell/ws")
    assert holds(within, "--ro-bind-fd", "8", "/cell/oracle")
    assert not {"/h/ws", "/h/oracle"} & set(within)


@pytest.mark.parametrize("kind", ["user", "ipc", "pid", "net", "uts", "cgroup"])
def test_every_namespace_is_asked_for_by_name(kind):
    assert f"--unshare-{kind}" in words()


def test_no_option_lets_bubblewrap_go_on_without_what_was_asked():
    assert not {word for word in words() if word.startswith("--unshare-") and word.endswith("-try")}
    assert "--share-net" not in words()


def test_user_namespaces_are_closed_where_bubblewrap_can():
    assert holds(words(), "--disable-userns", "--assert-userns-disabled")
    assert "--disable-userns" not in words(host=replace(HOST, can_disable_userns=False))


def test_the_guest_is_nobody_on_the_way_to_root():
    assert holds(words(), "--uid", "1000")
    assert holds(words(), "--gid", "1000")
    assert holds(words(), "--cap-drop", "ALL")
    assert {"--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"} <= set(words())


def test_the_root_is_sealed_after_the_last_mount():
    mounts = [at for at, word in enumerate(words()) if word in {"--bind", "--ro-bind", "--tmpfs", "--dir", "--symlink"}]
    at = words().index("--remount-ro", words().index("/dev/shm"))  # noqa: S108 (inside the sandbox)
    last = max(at for at, word in enumerate(words()) if word == "--remount-ro")
    assert words()[at + 1] == "/dev"
    assert words()[last + 1] == "/"
    assert max(mounts) < last


def test_every_tmpfs_has_a_size():
    for at, word in enumerate(words()):
        if word == "--tmpfs":
            assert "--size" in words()[at - 4 : at]
    assert holds(words(), "--size", "7777", "--perms", "1777", "--tmpfs", "/tmp")  # noqa: S108 (inside the sandbox)


def test_binds_are_writable_only_when_they_say_so_and_their_parents_are_made():
    assert holds(words(), "--dir", "/cell", "--bind", "/h/ws", "/cell/ws", "--ro-bind", "/h/oracle", "/cell/oracle")
    assert words().count("--bind") == 1


def test_a_door_is_bound_read_only_in_a_place_that_is_the_sandboxes_own():
    with_door = words(replace(SPEC, door=Door(Path("/h/door"), 9000)))
    assert holds(with_door, "--ro-bind", "/h/door", "/run/model.sock", "--remount-ro", "/")
    assert with_door.index("/run") < with_door.index("/run/model.sock")
    assert "/run/model.sock" not in words()


def test_tmp_is_a_tmpfs_unless_a_bind_is_in_its_place():
    bound = replace(SPEC, binds=(Bind(Path("/host/tmp"), "/tmp", writable=True),))  # noqa: S108 (inside the sandbox)
    assert not holds(words(bound), "--tmpfs", "/tmp")  # noqa: S108 (inside the sandbox)
    assert holds(words(bound), "--bind", "/host/tmp", "/tmp")  # noqa: S108 (inside the sandbox)


def test_home_is_a_small_tmpfs_unless_a_bind_covers_it():
    assert holds(words(), "--tmpfs", "/home/agent")
    homed = replace(SPEC, binds=(Bind(Path("/h/home"), "/home/agent", writable=True),))
    assert not holds(words(homed), "--tmpfs", "/home/agent")
    assert holds(words(homed), "--bind", "/h/home", "/home/agent")


def test_the_environment_is_the_default_and_what_the_spec_adds():
    at = [index for index, word in enumerate(words()) if word == "--setenv"]
    assert [words()[index + 1] for index in at] == ["HOME", "KEY", "LANG", "PATH", "TMPDIR", "USER"]


def test_etc_is_ours():
    for name in ("passwd", "group", "hosts", "nsswitch.conf"):
        assert holds(words(), "--ro-bind", f"/w/etc/{name}", f"/etc/{name}")
    assert not holds(words(), "--ro-bind", "/etc", "/etc")


def test_the_filter_is_left_out_only_where_it_is_asked_for():
    assert holds(words(), "--seccomp", "12")
    assert "--seccomp" not in words(fds=plan.PlanFds(status=11, seccomp=None))


def test_the_command_is_our_init_with_the_limits_and_no_secret():
    command = plan.command(SPEC, HOST, report=13)
    assert command == ("/.init", "13", "2000", "30", "10", "1000", "0", "cmd", "-x")
    assert plan.command(SPEC, replace(HOST, init_words=("py", "-I")), report=13)[:3] == ("py", "-I", "/.init")
