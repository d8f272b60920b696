"""Live progress: a table that redraws itself in a terminal, a line now and then elsewhere."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from farm.coordinator.progress import ArmProgress, Progress
from farm.model import LiveNote
from farm.reporting.text import one_line

_BAR_WIDTH = 24
_MOST_LIVE = 12
"""Lines of running cells: more would push the table out of sight."""
_MOST_NOTES = 5
# What a guest wrote may stand in a note: `one_line` takes escapes and line breaks out.
Show = Callable[[Progress], None]


def clock_text(seconds: float | None) -> str:
    """Say a duration as a clock does, h:mm:ss or m:ss; `unknown` for None."""
    if seconds is None:
        return "unknown"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def cost_text(arm: ArmProgress) -> str:
    """Say an arm's cost so far; what nobody measured is said, not counted as nothing."""
    if arm.cost_unknown == arm.done and not arm.cost_usd:
        return "unknown" if arm.done else ""
    return f"${arm.cost_usd:.2f}" + (f" + {arm.cost_unknown} unknown" if arm.cost_unknown else "")


def headline(progress: Progress) -> str:
    """Say the whole sweep in one line."""
    parts = [
        f"{progress.done}/{progress.planned} done",
        f"{progress.running} running",
        f"{progress.failed} failed",
        f"ETA {clock_text(progress.eta_s)}",
    ]
    if progress.is_paused:
        parts.append("paused by the breaker")
    if progress.budget:
        parts.append(progress.budget)
    if progress.waiting:
        parts.append(one_line(progress.waiting))
    return ", ".join(parts)


def live_line(note: LiveNote, now: datetime) -> str:
    """Say in one line how far a running session is."""
    parts = [clock_text((now - note.started_at).total_seconds())]
    parts += [f"{note.turns} turns"] if note.turns is not None else []
    parts += [f"{note.tool_calls} tool calls"] if note.tool_calls is not None else []
    said = one_line(note.preview, most=80)
    return f"{note.cell}  {one_line(note.session, most=40)} on {one_line(note.host, most=40)}: {', '.join(parts)}" + (
        f"; {said}" if said else ""
    )


def _picture(progress: Progress, live: tuple[LiveNote, ...], now: datetime) -> Group:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("arm", "", "done", "running", "failed", "correct", "cost"):
        table.add_column(column, justify="left" if column in {"arm", ""} else "right")
    for arm in progress.arms:
        bar = ProgressBar(total=max(1, arm.planned), completed=arm.done, width=_BAR_WIDTH)
        counts = (f"{arm.done}/{arm.planned}", str(arm.running), str(arm.failed), str(arm.correct))
        table.add_row(arm.arm, bar, *counts, cost_text(arm))
    running = [Text(f"  {live_line(note, now)}") for note in live[:_MOST_LIVE]]
    if live[_MOST_LIVE:]:
        running.append(Text(f"  and {len(live) - _MOST_LIVE} more", style="dim"))
    notes = [Text(f"  {one_line(note)}", style="dim") for note in progress.notes[-_MOST_NOTES:]]
    return Group(Text(f"{progress.sweep}: {headline(progress)}"), table, *running, *notes)


@contextmanager
def live_display(notes: Callable[[], tuple[LiveNote, ...]], *, quiet: bool) -> Iterator[Show]:
    """Give a function that shows progress on stderr for as long as the block lasts; `notes` gives running sessions'."""
    console = Console(stderr=True)
    if quiet:
        yield lambda _progress: None
    elif console.is_terminal:
        with Live(console=console, refresh_per_second=8) as live:
            yield lambda progress: live.update(_picture(progress, notes(), datetime.now(UTC)))
    else:
        yield _Lines(console).show


class _Lines:
    """Prints each new note once, and a line when the count of done cells, or what it waits for, has changed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._last: tuple[int, str | None] | None = None
        self._notes: tuple[str, ...] = ()

    def show(self, progress: Progress) -> None:
        for note in progress.notes:
            if note not in self._notes:
                self._print(f"{progress.sweep}: {one_line(note)}")
        self._notes = progress.notes
        now = (progress.done, progress.waiting)
        if now != self._last:
            self._last = now
            self._print(f"{progress.sweep}: {headline(progress)}")

    def _print(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False, soft_wrap=True)
