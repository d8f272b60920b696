"""What goes on from one session to the next: its conversation, and nothing that is counted twice."""

import os
from decimal import Decimal
from pathlib import Path

import pytest

from farm.model import ExitKind, ProcessExit, SessionReport, Usage
from worker.cell.carrying import carry, own_share
from worker.session import Counted
from worker.trees.copying import Ownership

ME = Ownership(os.getuid(), os.getgid())
ENDED = ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0)


@pytest.fixture
def homes(tmp_path: Path) -> tuple[Path, Path]:
    before, home = tmp_path / "before", tmp_path / "home"
    (before / ".agent/talks").mkdir(parents=True)
    (before / ".agent/talks/one.jsonl").write_text("said")
    (before / ".agent/settings.json").write_text("{}")
    home.mkdir()
    return before, home


def test_only_what_is_named_is_moved(homes: tuple[Path, Path]) -> None:
    before, home = homes
    carry((".agent/talks", ".agent/missing"), before, home, ME)
    assert (home / ".agent/talks/one.jsonl").read_text() == "said"
    assert [path.name for path in (home / ".agent").iterdir()] == ["talks"]


def test_nothing_is_reached_by_way_of_a_link(homes: tuple[Path, Path], tmp_path: Path) -> None:
    before, home = homes
    (tmp_path / "ours/talks").mkdir(parents=True)
    (before / ".agent").rename(before / "aside")
    (before / ".agent").symlink_to(tmp_path / "ours")
    carry((".agent/talks",), before, home, ME)
    assert (tmp_path / "ours/talks").is_dir()
    assert list((home / ".agent").iterdir()) == []


def a_report(cost: str | None, tokens: int | None) -> SessionReport:
    usage = None if tokens is None else Usage(input_tokens=tokens)
    money = None if cost is None else Decimal(cost)
    return SessionReport(name="work", exit=ENDED, reason="success", cost_usd=money, usage=usage)


@pytest.mark.parametrize(
    ("counts_on", "cost", "tokens"),
    [
        (frozenset(), "0.05248", 139020),
        (frozenset({Counted.COST}), "0.01214", 139020),
        (frozenset({Counted.USAGE}), "0.05248", 93510),
    ],
)
def test_what_a_stream_counts_on_is_taken_out(counts_on: frozenset[Counted], cost: str, tokens: int) -> None:
    found = own_share(a_report("0.05248", 139020), a_report("0.04034", 45510), counts_on)
    assert found.cost_usd == Decimal(cost)
    assert found.usage == Usage(input_tokens=tokens)


def test_what_was_not_known_before_is_not_known_now() -> None:
    both = frozenset(Counted)
    found = own_share(a_report("0.05", 100), a_report(None, None), both)
    assert (found.cost_usd, found.usage) == (None, None)
    less = own_share(a_report("0.05", 100), a_report("0.06", 200), both)
    assert (less.cost_usd, less.usage) == (None, Usage())
