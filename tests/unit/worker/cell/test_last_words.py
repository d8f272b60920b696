"""Why a session failed that said nothing on standard error."""

from pathlib import Path

import pytest

from farm.model import ExitKind, ProcessExit, SessionReport
from sandbox.spec import Stream
from worker.cell.sessions import with_last_words
from worker.collect.streams import RawStreams

CRASHED = SessionReport(
    name="work",
    exit=ProcessExit(kind=ExitKind.EXITED, code=1, wall_s=1.0),
    reason="crashed",
    problem="the agent exited with code 1",
)


def told(folder: Path, report: SessionReport, **said: bytes) -> str | None:
    streams = RawStreams(folder, "work", lambda *_: None)
    for stream in Stream:
        if stream in said:
            streams.sink(stream, said[stream])
    streams.close()
    return with_last_words(report, streams).problem


def test_case_34_a_session_that_fails_with_nothing_on_stderr_is_told_by_the_end_of_its_output(tmp_path: Path) -> None:
    said = b"loading\n" * 10_000 + b"Error: no such\tmodel\n"
    problem = told(tmp_path, CRASHED, stdout=said)
    assert problem is not None
    assert problem.startswith("the agent exited with code 1; its output ends: …loading loading")
    assert problem.endswith("loading Error: no such model")
    assert len(problem) < 600


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, {"stdout": b"loading", "stderr": b"no such model"}),
        ({}, {"stdout": b" \n"}),
        ({}, {}),
        ({"problem": "line 1 is not JSON; it begins: no such model"}, {"stdout": b"no such model\n"}),
        ({"reason": "error_max_turns"}, {"stdout": b"loading"}),
        ({"exit": ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0)}, {"stdout": b"loading"}),
        ({"exit": ProcessExit(kind=ExitKind.SIGNALED, signal=9, wall_s=1.0)}, {"stdout": b"loading"}),
    ],
)
def test_what_is_explained_already_stays_as_it_was_told(
    tmp_path: Path, changes: dict[str, object], said: dict[str, bytes]
) -> None:
    report = CRASHED.model_copy(update=changes)
    assert told(tmp_path, report, **said) == report.problem
