"""Preflight of the door and the rooms: each way that is open or shut against the plan is told by its name."""

import secrets
from dataclasses import replace

import pytest

from sandbox.backends.verdicts import REPORT
from sandbox.backends.way_drills import in_python, of_program, ways
from sandbox.process.tools import prepare_container
from sandbox.spec import SERVER, TOOL, Bind
from tests.builders.sandbox_rooms import a_backend, work_root

IMPOSTOR = "/opt/impostor"


@pytest.fixture(params=["native", "python"])
def backend(request):
    return a_backend(request)


everywhere = pytest.mark.parametrize("backend", ["native", "python", "docker"], indirect=True)


@pytest.fixture
def folder():
    place = work_root() / f"ways-{secrets.token_hex(4)}"
    place.mkdir()
    return place


class Changed:
    """A backend that runs something other than it was asked for."""

    def __init__(self, inner, change):
        self._inner, self._change = inner, change

    def facts(self):
        return self._inner.facts()

    def owner(self, slot):
        return self._inner.owner(slot)

    def run(self, spec, sink, stop):
        return self._inner.run(self._change(spec), sink, stop)


def looked(backend, folder):
    is_docker = backend.facts()["backend"] == "docker"
    caller = of_program(prepare_container(work_root() / "callers").caller) if is_docker else in_python()
    return list(ways(backend, folder, caller))


def broken(backend, folder, change):
    return {probe.name: probe.fix for probe in looked(Changed(backend, change), folder) if not probe.ok}


@everywhere
def test_a_fit_host_passes_and_nothing_is_left(backend, folder):
    assert [(probe.name, probe.ok) for probe in looked(backend, folder)] == [
        ("door", True),
        ("door, control", True),
        ("tool room", True),
        ("server room", True),
        ("server room, control", True),
    ]
    assert list(folder.iterdir()) == []


@everywhere
def test_a_door_that_leads_nowhere_fails(backend, folder):
    fixes = broken(backend, folder, lambda spec: replace(spec, door=None))
    assert list(fixes) == ["door"]
    assert fixes["door"].startswith("sessions can't ask their provider")


def test_a_port_that_does_not_lead_to_the_door_fails(backend, folder):
    other = lambda spec: replace(spec, door=spec.door and replace(spec.door, port=8081))  # noqa: E731 (one change)
    assert list(broken(backend, folder, other)) == ["door"]


@everywhere
def test_a_door_for_who_asked_for_none_fails(backend, folder):
    doors = []

    def keep(spec):
        doors.append(spec.door)
        return replace(spec, door=doors[0])

    assert broken(backend, folder, keep) == {"door, control": REPORT}


@pytest.fixture
def no_room():
    """What takes the place of the tool: it runs the command beside the door."""
    tool = work_root() / f"no-room-{secrets.token_hex(4)}"
    tool.write_text('#!/bin/sh\nexec "$@"\n')
    tool.chmod(0o555)
    return tool


def in_place_of(room, program, spec):
    """Let `program` be run where the drill runs `room`'s."""
    argv = tuple(word.replace(f"{room} ", f"{IMPOSTOR} ") for word in spec.argv)
    without = {"tools": None} if room == TOOL else {"servers": None}
    return replace(spec, argv=argv, binds=(*spec.binds, Bind(program, IMPOSTOR)), **without)


@everywhere
def test_a_tool_that_runs_beside_the_door_fails(backend, folder, no_room):
    roomless = lambda spec: in_place_of(TOOL, no_room, spec)  # noqa: E731 (one change)
    assert broken(backend, folder, roomless) == {"tool room": REPORT}


def test_a_tool_that_runs_nothing_is_not_taken_for_one_that_reaches_nothing(backend, folder, no_room):
    no_room.chmod(0o755)
    no_room.write_text("#!/bin/sh\nexit 0\n")
    idle = lambda spec: in_place_of(TOOL, no_room, spec)  # noqa: E731 (one change)
    fixes = broken(backend, folder, idle)
    assert list(fixes) == ["tool room"]
    assert fixes["tool room"].startswith("sessions can't run tools")


def test_a_server_that_runs_beside_the_door_fails(backend, folder, no_room):
    roomless = lambda spec: in_place_of(SERVER, no_room, spec)  # noqa: E731 (one change)
    assert broken(backend, folder, roomless) == {"server room": REPORT}


@everywhere
def test_a_server_that_may_what_a_tool_may_fails(backend, folder, no_room):
    no_room.chmod(0o755)
    no_room.write_text(f'#!/bin/sh\nexec {TOOL} "$@"\n')
    as_tool = lambda spec: in_place_of(SERVER, no_room, spec)  # noqa: E731 (one change)
    assert broken(backend, folder, as_tool) == {"server room": REPORT}


def test_a_server_that_runs_nothing_is_not_taken_for_one_that_is_sealed(backend, folder, no_room):
    no_room.chmod(0o755)
    no_room.write_text("#!/bin/sh\nexit 0\n")
    idle = lambda spec: in_place_of(SERVER, no_room, spec)  # noqa: E731 (one change)
    fixes = broken(backend, folder, idle)
    assert list(fixes) == ["server room"]
    assert fixes["server room"].startswith("sessions can't start servers")


def test_a_session_that_does_not_finish_is_told_in_its_own_words(backend, folder):
    (probe,) = looked(Changed(backend, lambda spec: replace(spec, tools=None)), folder)
    assert (probe.name, probe.ok) == ("door and rooms", False)
    assert "did not finish, exited 127" in probe.detail
    assert "/.tool" in probe.detail
