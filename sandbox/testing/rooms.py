# ruff: noqa: S101 (a suite of tests, run by pytest in somebody's test folder)
"""The part of the suite about rooms: tools and servers beside a session, without its door."""

import fcntl
import shlex
from dataclasses import replace
from typing import Any

from sandbox.errors import SandboxRefusedError
from sandbox.spec import DOOR, SERVER, TOOL, ExitKind, ServerRoom, ToolRoom
from sandbox.testing.stage import LIMITS, OUT, Guarantee, Heard, Stage, is_raised, script


class RoomsConformance(Stage):
    """What a backend with rooms keeps; one that lacks them refuses a spec with one."""

    def test_a_tool_has_its_sessions_files_and_words_and_not_its_door(self) -> None:
        tells = f"pwd; cat in; echo $WORD; echo made >made; [ -e {DOOR} ] && echo door; {self._calls()}; exit 7"
        text = f"export WORD=own; echo in >in; {TOOL} sh -c {shlex.quote(tells)}; echo $?; cat made; {self._calls()}"
        said = f"{OUT}\nin\nown\nshut\n7\nmade\nheard hello\n"
        assert self._beside(text, tools=ToolRoom(self.folder / "room")) in {said, None}

    def test_a_server_reads_its_sessions_files_and_has_nothing_else_of_it(self) -> None:
        tells = f"cat in; (: >made) 2>/dev/null || echo no; echo $WORD; [ -e {DOOR} ] && echo door; {self._calls()}"
        text = f"export WORD=own; echo in >in; {SERVER} sh -c {shlex.quote(tells)}; ls; {self._calls()}"
        said = "in\nno\n\nshut\nin\nheard hello\n"
        assert self._beside(text, servers=ServerRoom(self.folder / "room")) in {said, None}

    def test_what_tools_and_servers_leave_is_dead_when_run_returns(self) -> None:
        stays = "exec 9<in; flock -s 9 && trap '' TERM HUP; (setsid sleep 600 &); echo up"
        text = f"touch in; {TOOL} sh -c {shlex.quote(stays)}; {SERVER} sh -c {shlex.quote(stays)}"
        rooms = {"tools": ToolRoom(self.folder / "room"), "servers": ServerRoom(self.folder / "other")}
        if self._beside(text, **rooms) is not None:
            with (self.folder / "out-0" / "in").open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            assert sorted(one.name for one in self.folder.iterdir()) == ["out-0"]

    def test_a_tools_tmp_that_is_full_at_the_end_is_named(self) -> None:
        fill = f"dd if=/dev/zero of=/tmp/big bs={LIMITS.tmp_bytes} count=1; echo x >/tmp/more"
        spec = script(f"{TOOL} sh -c {shlex.quote(fill)}; exit 3")
        if Guarantee.ROOMS not in self.lacks:
            exit_ = self.run(replace(spec, tools=ToolRoom(self.folder / "room")))
            assert (exit_.code, exit_.limits_touched) == (3, ("tmp",))

    def test_without_rooms_there_is_nothing_that_leads_into_one(self) -> None:
        heard = Heard()
        self.run(script(f"[ -e {TOOL} ] || [ -e {SERVER} ] || echo none"), heard)
        assert heard.stdout == b"none\n"

    def _calls(self) -> str:
        return f"echo hello | {self.netcat} 127.0.0.1 8123 || echo shut"

    def _beside(self, text: str, **rooms: Any) -> str | None:  # noqa: ANN401 (tool and server rooms)
        """Run a session with a door and rooms; give what it said, or None where it is refused, as it should be then."""
        heard = Heard()
        with self.door(8123) as door:
            spec = replace(script(text, self.out()), cwd=OUT, door=door, **rooms)
            if Guarantee.ROOMS in self.lacks:
                assert is_raised(SandboxRefusedError, lambda: self.run(spec))
                return None
            exit_ = self.run(spec, heard)
        assert (exit_.kind, exit_.code) == (ExitKind.EXITED, 0), heard.stderr
        return heard.stdout.decode()
