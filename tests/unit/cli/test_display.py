"""The live display must not let a guest steer the terminal."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from farm.cli.display import headline, live_display, live_line
from farm.coordinator.progress import ArmProgress, Progress
from farm.model import CellId, LiveNote, SweepId


def a_progress(**changes: object) -> Progress:
    arm = ArmProgress("only", 2, 1, 1, 0, 1, Decimal(0), 1)
    given = {
        "sweep": SweepId("demo"),
        "planned": 2,
        "done": 1,
        "running": 1,
        "failed": 0,
        "arms": (arm,),
        "eta_s": None,
        "is_paused": False,
        "waiting": None,
        "notes": (),
        "budget": "",
    }
    return Progress(**given | changes)  # type: ignore[arg-type]  # the test's own words


def test_the_headline_says_unknown_and_never_zero_for_an_eta_that_nobody_knows() -> None:
    assert headline(a_progress()) == "1/2 done, 1 running, 0 failed, ETA unknown"


def test_what_it_waits_for_is_one_plain_line() -> None:
    assert headline(a_progress(waiting="a\x1b]0;title\x07b\x1b[2Jc\nd")).endswith("ETA unknown, abc d")


def test_markup_in_an_outage_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with live_display(lambda: (), quiet=False) as show:
        show(a_progress(waiting="no [/x] here"))
    assert "no [/x] here" in capsys.readouterr().err


def test_how_far_a_session_is_is_one_plain_line() -> None:
    started_at = datetime(2026, 1, 1, 12, tzinfo=UTC)
    note = LiveNote(
        cell=CellId("fix.base.1"),
        attempt=1,
        host="host-1",
        session="work",
        started_at=started_at,
        turns=4,
        tool_calls=6,
        preview="::error::\x1b[2JBash ls",
    )
    now = started_at + timedelta(seconds=133)
    assert live_line(note, now) == "fix.base.1  work on host-1: 2:13, 4 turns, 6 tool calls; : :error::Bash ls"
    silent = note.model_copy(update={"turns": None, "tool_calls": None, "preview": ""})
    assert live_line(silent, now) == "fix.base.1  work on host-1: 2:13"


def test_without_a_terminal_each_note_is_a_line_once(capsys: pytest.CaptureFixture[str]) -> None:
    with live_display(lambda: (), quiet=False) as show:
        show(a_progress(notes=("a attempt 1: 429",)))
        show(a_progress(notes=("a attempt 1: 429", "b attempt 1: 5\x1b[2J03")))
        show(a_progress(notes=("b attempt 1: 5\x1b[2J03",)))
    lines = capsys.readouterr().err.splitlines()
    assert [line for line in lines if "attempt" in line] == ["demo: a attempt 1: 429", "demo: b attempt 1: 503"]
    assert len(lines) == 3
