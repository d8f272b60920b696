# ruff: noqa: S101 (a suite of tests, run by pytest in somebody's test folder)
"""The suite itself."""

import fcntl
import json
import os
from dataclasses import replace
from functools import partial

from sandbox.errors import SandboxCommandError, SandboxRefusedError
from sandbox.spec import DOOR, Bind, ExitKind, Scratch, Stream
from sandbox.testing.rooms import RoomsConformance
from sandbox.testing.stage import LIMITS, OUT, Guarantee, Heard, is_raised, script

_SIGXFSZ = 25
_SIGKILL = 9
_PIECE_BYTES = 1 << 18


class SandboxConformance(RoomsConformance):
    """The suite: what `Stage` says of a backend's differences holds here."""

    def test_an_exit_code_is_told(self) -> None:
        exit_ = self.run(script("exit 3"))
        assert (exit_.kind, exit_.code, exit_.signal) == (ExitKind.EXITED, 3, None)

    def test_an_exit_code_that_looks_like_a_signal_is_an_exit_code(self) -> None:
        exit_ = self.run(script("exit 137"))
        assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 137)

    def test_a_signal_is_told(self) -> None:
        exit_ = self.run(script("kill -KILL $$"))
        assert (exit_.kind, exit_.signal, exit_.code) == (ExitKind.SIGNALED, _SIGKILL, None)

    def test_a_short_run_has_a_wall_time_and_a_cpu_time(self) -> None:
        exit_ = self.run(script("i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done"))
        assert exit_.cpu_s is not None
        assert 0 < exit_.cpu_s < exit_.wall_s * (os.cpu_count() or 1) + 1

    def test_both_outputs_arrive_apart_and_whole(self) -> None:
        heard = Heard()
        self.run(script("echo one; echo two >&2; echo three"), heard)
        assert (heard.stdout, heard.stderr) == (b"one\nthree\n", b"two\n")

    def test_stdin_arrives_whole_and_ends(self) -> None:
        heard = Heard()
        body = bytes(range(256)) * 300
        self.run(replace(script("cat"), stdin=body), heard)
        assert heard.stdout == body

    def test_without_stdin_reading_ends_at_once(self) -> None:
        assert self.run(script("cat")).code == 0

    def test_output_can_be_opened_again_by_name(self) -> None:
        heard = Heard()
        self.run(script("echo hello > /dev/stderr"), heard)
        assert heard.stderr == b"hello\n"

    def test_the_environment_is_only_what_the_spec_says(self) -> None:
        heard = Heard()
        self.run(replace(script("/usr/bin/env"), env={"MARK": "a b=c"}), heard)
        names = {line.split("=")[0] for line in heard.stdout.decode().splitlines()}
        ours = {"HOME", "LANG", "MARK", "PATH", "TMPDIR", "USER"}
        assert names - {"PWD", "_", "SHLVL", "OLDPWD"} == ours | self.added_environment
        assert b"MARK=a b=c\n" in heard.stdout

    def test_the_guest_is_who_it_shall_be_and_has_a_home(self) -> None:
        heard = Heard()
        exit_ = self.run(script("id -u; id -g; echo x > $HOME/x && cat $HOME/x; pwd"), heard)
        uid, gid = self.guest(0)
        assert (exit_.code, heard.stdout) == (0, f"{uid}\n{gid}\nx\n/\n".encode())

    def test_a_writable_bind_takes_what_is_written_as_the_slots_owner(self) -> None:
        bind = self.out(slot=1)
        self.run(replace(script(f"echo kept > {OUT}/file", bind), slot=1))
        found = bind.source / "file"
        assert found.read_text() == "kept\n"
        assert (found.stat().st_uid, found.stat().st_gid) == self.backend.owner(1)

    def test_a_read_only_bind_can_be_read_and_not_written(self) -> None:
        place = self.folder / "shown"
        place.mkdir()
        place.chmod(0o777)
        (place / "file").write_text("seen")
        heard = Heard()
        exit_ = self.run(script("cat /cell/shown/file; echo x > /cell/shown/new", Bind(place, "/cell/shown")), heard)
        assert heard.stdout == b"seen"
        self.holds(Guarantee.READ_ONLY, exit_.code != 0 and not (place / "new").exists())

    def test_nothing_of_the_host_is_there_but_usr(self) -> None:
        (self.folder / "secret").write_text("x")
        heard = Heard()
        text = f"for p in /root /var /srv /boot {self.folder}; do [ -e $p ] && echo $p; done; echo end"
        self.run(script(text), heard)
        *found, end = heard.stdout.splitlines()
        assert end == b"end"
        self.holds(Guarantee.HIDDEN_HOST, not found)

    def test_there_is_no_network_but_loopback(self) -> None:
        heard = Heard()
        self.run(script("readlink /proc/self/ns/net; cat /proc/net/dev"), heard)
        namespace, *lines = heard.stdout.decode().splitlines()
        interfaces = [line.split(":")[0].strip() for line in lines[2:]]
        is_own = namespace != os.readlink("/proc/self/ns/net")  # noqa: PTH115 (no path)
        self.holds(Guarantee.NO_NETWORK, is_own and interfaces == ["lo"])

    def test_a_door_is_a_socket_and_a_port_of_the_loopback(self) -> None:
        heard = Heard()
        text = f"[ -S {DOOR} ] && echo hello | {self.netcat} 127.0.0.1 8123"
        with self.door(8123) as door:
            spec = replace(script(text), door=door)
            if Guarantee.DOOR in self.lacks:
                assert is_raised(SandboxRefusedError, lambda: self.run(spec))
                return
            assert (self.run(spec, heard).code, heard.stdout) == (0, b"heard hello\n"), heard.stderr

    def test_without_a_door_there_is_neither(self) -> None:
        if Guarantee.DOOR in self.lacks:
            return
        heard = Heard()
        self.run(script(f"[ -e {DOOR} ] && echo there; echo hello | {self.netcat} 127.0.0.1 8123 || echo none"), heard)
        assert heard.stdout == b"none\n"

    def test_what_is_left_in_the_background_is_dead_when_run_returns(self) -> None:
        bind = self.out()
        locked = f"exec 9>{OUT}/lock; flock 9 || exit 9"
        text = f"{locked}; trap '' TERM HUP INT; (setsid sleep 600 &) ; setsid sleep 600 & exit 0"
        assert self.run(script(text, bind)).code == 0
        with (bind.source / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_the_wall_limit_ends_it_and_has_its_name(self) -> None:
        spec = script("while :; do :; done")
        exit_ = self.run(replace(spec, limits=replace(LIMITS, wall_s=0.3)))
        assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "wall")
        assert 0.3 <= exit_.wall_s < 5  # noqa: PLR2004 (the limit, and a bound for a slow machine)

    def test_a_flood_is_cut_at_the_limit_of_each_output(self) -> None:
        heard = Heard()
        exit_ = self.run(script("yes & yes >&2"), heard)
        assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "output")
        assert LIMITS.output_bytes in (len(heard.stdout), len(heard.stderr))
        assert max(len(heard.stdout), len(heard.stderr)) == LIMITS.output_bytes
        assert exit_.cut != ()

    def test_the_output_that_was_cut_is_named(self) -> None:
        assert [self.run(script("yes")).cut, self.run(script("yes >&2")).cut] == [(Stream.STDOUT,), (Stream.STDERR,)]

    def test_output_of_exactly_the_limit_is_no_limit_reached(self) -> None:
        heard = Heard()
        exit_ = self.run(script(f"dd if=/dev/zero bs={LIMITS.output_bytes} count=1 iflag=fullblock"), heard)
        assert (exit_.kind, len(heard.stdout), exit_.cut) == (ExitKind.EXITED, LIMITS.output_bytes, ())

    def test_stop_ends_it_soon(self) -> None:
        heard = Heard()
        exit_ = self.run(script("echo ready; exec sleep 600"), heard, lambda: bool(heard.stdout))
        assert exit_.kind is ExitKind.STOPPED
        assert exit_.wall_s < 5  # noqa: PLR2004 (a bound for a slow machine)

    def test_stop_before_the_start_leaves_nothing(self) -> None:
        bind = self.out()
        heard = Heard()
        exit_ = self.run(script(f"exec 9>{OUT}/lock; flock 9; sleep 600; echo end", bind), heard, lambda: True)
        assert (exit_.kind, exit_.code, heard.stdout) == (ExitKind.STOPPED, None, b"")
        assert exit_.wall_s < 5  # noqa: PLR2004 (a bound for a slow machine)
        for lock in bind.source.iterdir():  # it may have come as far as that
            with lock.open("r+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_a_closed_backend_serves_again_and_may_be_closed_again(self) -> None:
        assert self.run(script("exit 3")).code == 3  # noqa: PLR2004 (the script's)
        self.backend.close()
        assert self.run(script("exit 3")).code == 3  # noqa: PLR2004 (the script's)
        self.backend.close()

    def test_a_sink_that_raises_ends_it_and_is_heard(self) -> None:
        bind = self.out()
        text = f"exec 9>{OUT}/lock; flock 9 && echo ready; sleep 600"

        def refuse(stream: Stream, _chunk: bytes) -> None:
            if stream is Stream.STDOUT:
                raise InterruptedError

        try:
            self.backend.run(script(text, bind), refuse, lambda: False)
        except InterruptedError:
            with (bind.source / "lock").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        raise AssertionError("what the sink raised was not heard")

    def test_a_file_may_not_grow_past_its_limit(self) -> None:
        spec = script(f"exec dd if=/dev/zero of={OUT}/big bs=65536 count=100", self.out())
        exit_ = self.run(spec)
        assert (exit_.kind, exit_.signal, exit_.limits_touched) == (ExitKind.SIGNALED, _SIGXFSZ, ("file_size",))

    def test_tmp_is_private_and_has_a_size(self) -> None:
        limits = replace(LIMITS, file_size_bytes=LIMITS.tmp_bytes * 4)
        big = f"/tmp/{self.folder.name}.big"  # noqa: S108 (the guest's)
        text = f"dd if=/dev/zero of={big} bs=65536 count=40; code=$?; rm {big}; exit $code"
        heard = Heard()
        exit_ = self.run(replace(script(text), limits=limits), heard)
        self.holds(Guarantee.SIZED_TMP, exit_.code != 0 and b"No space left" in heard.stderr)

    def test_a_tmp_that_is_full_at_the_end_is_named_and_one_that_is_not_is_not(self) -> None:
        pieces = LIMITS.tmp_bytes // _PIECE_BYTES
        ends = [self.run(script(self._filling(count))) for count in (pieces + 1, pieces - 1)]
        assert [(end.kind, end.code) for end in ends] == [(ExitKind.EXITED, 3)] * 2
        self.holds(Guarantee.SIZED_TMP, [end.limits_touched for end in ends] == [("tmp",), ()])

    def _filling(self, pieces: int) -> str:
        """Give the script that writes to /tmp, and takes away what would be left on a host's own."""
        name = f"/tmp/{self.folder.name}.piece"  # noqa: S108 (the guest's)
        write = f"dd if=/dev/zero of={name}$n bs={_PIECE_BYTES} count=1"
        clear = f"rm {name}*; " if Guarantee.SIZED_TMP in self.lacks else ""
        return f"for n in $(seq {pieces}); do {write}; done; {clear}exit 3"

    def test_scratch_is_an_empty_folder_of_a_size_in_a_bind_that_stays_read_only(self) -> None:
        (self.folder / "deps/cache").mkdir(parents=True)
        (self.folder / "deps/cache/old").touch()
        fills = "dd if=/dev/zero of=large bs=65536 count=40"
        text = f"cd /cell/deps/cache && ls && echo new >new && cat new && ! touch ../other && ! {fills}"
        deps = Bind(self.folder / "deps", "/cell/deps")
        spec = replace(script(text, deps), scratch=(Scratch("/cell/deps/cache", 1 << 20),))
        heard = Heard()
        if Guarantee.SCRATCH in self.lacks:
            assert is_raised(SandboxRefusedError, partial(self.run, spec))
            return
        assert self.run(replace(spec, limits=replace(LIMITS, file_size_bytes=1 << 24)), heard).code == 0
        assert (heard.stdout, b"Read-only file system" in heard.stderr) == (b"new\n", True)
        assert [path.name for path in (self.folder / "deps").rglob("*")] == ["cache", "old"]

    def test_scratch_where_a_guest_may_have_planted_a_link_is_refused(self) -> None:
        (self.folder / "deps").mkdir()
        (self.folder / "deps/link").symlink_to("/etc")
        read_only = Bind(self.folder / "deps", "/cell/deps")
        for bind, target in (
            (self.out(), f"{OUT}/cache"),
            (read_only, "/cell/deps/link"),
            (read_only, "/cell/deps/absent"),
            (read_only, "/cell/deps"),
            (read_only, "/cell/deps/../x"),
            (read_only, "/cell/other"),
        ):
            spec = replace(script("", bind), scratch=(Scratch(target, 1 << 20),))
            assert is_raised(SandboxRefusedError, partial(self.run, spec))
            if bind.writable:
                (self.folder / "out-0").rmdir()

    def test_a_command_that_is_not_there_is_told_apart(self) -> None:
        spec = replace(script(""), argv=("/nowhere/command",))
        assert is_raised(SandboxCommandError, lambda: self.run(spec))

    def test_a_source_behind_a_symlink_is_refused(self) -> None:
        (self.folder / "real").mkdir()
        (self.folder / "link").symlink_to("real")
        for source in (self.folder / "link", self.folder / "link" / "..", self.folder / "absent"):
            assert is_raised(SandboxRefusedError, partial(self.run, script("", Bind(source, "/cell/x"))))

    def test_unsafe_targets_are_refused(self) -> None:
        out = self.out()
        for target in (
            "x",
            "/cell/../x",
            "/cell/x/",
            "/",
            "/usr/x",
            "/proc/x",
            "/cell/out",
            "/cell/out/below",
            "/cell",
            "/.init",
            "/.tool",
            "/.server",
        ):
            spec = script("", out, Bind(out.source, target))
            assert is_raised(SandboxRefusedError, partial(self.run, spec)), target

    def test_words_that_hold_a_nul_or_are_too_many_are_refused(self) -> None:
        for argv in (("a\0b",), ("a",) * 10_000, ("a" * 200_000,), ()):
            spec = replace(script(""), argv=argv)
            assert is_raised(SandboxRefusedError, partial(self.run, spec))

    def test_limits_that_are_nothing_are_refused(self) -> None:
        for limits in (replace(LIMITS, wall_s=0.0), replace(LIMITS, processes=0), replace(LIMITS, tmp_bytes=-1)):
            assert is_raised(SandboxRefusedError, partial(self.run, replace(script(""), limits=limits)))

    def test_a_limit_looser_than_the_hosts_own_leaves_the_hosts(self) -> None:
        limits = replace(LIMITS, open_files=1 << 40, file_size_bytes=1 << 60)
        assert self.run(replace(script("exit 0"), limits=limits)).code == 0

    def test_the_facts_are_plain_values(self) -> None:
        facts = self.backend.facts()
        assert json.loads(json.dumps(dict(facts))) == dict(facts)
        assert facts["limits"]

    def test_preflight_proves_containment_here(self) -> None:
        probes = self.backend.preflight(self.folder / "scratch")
        self.holds(Guarantee.CONTAINED, len(probes) > 1 and all(probe.ok for probe in probes))
