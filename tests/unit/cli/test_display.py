"""The live display must not let a guest steer the terminal."""

from decimal import Decimal

import pytest

from farm.cli.display import headline, live_display
from farm.coordinator.progress import ArmProgress, Progress
from farm.model import SweepId


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
    }
    return Progress(**given | changes)  # type: ignore[arg-type]  # the test's own words


def test_the_headline_says_unknown_and_never_zero_for_an_eta_that_nobody_knows() -> None:
    assert headline(a_progress()) == "1/2 done, 1 running, 0 failed, ETA unknown"


def test_what_it_waits_for_is_one_plain_line() -> None:
    assert headline(a_progress(waiting="a\x1b]0;title\x07b\x1b[2Jc\nd")).endswith("ETA unknown, abc d")


def test_markup_in_an_outage_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with live_display(quiet=False) as show:
        show(a_progress(waiting="no [/x] here"))
    assert "no [/x] here" in capsys.readouterr().err
