"""Time windows: when a sweep or a host may work. What is written is what is kept; this file reads it.

22:00-06:00 Europe/Berlin                         every day, by that zone's clock; without a zone: UTC
Sat,Sun 00:00-24:00   Mon-Fri 19:00-07:00         on these days, as the window opens
2026-12-01T22:00Z/2026-12-02T06:00Z               once
instance   instance 24h reserve 90m               a host's: its time since boot, less what uploading may take
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_DAILY = re.compile(r"(?:(?P<days>[A-Z][A-Za-z,-]*) )?(?P<opens>\d\d:\d\d)-(?P<closes>\d\d:\d\d)(?: (?P<zone>\S+))?")
_ONCE = re.compile(r"(?P<opens>\d{4}-[^/\s]+)/(?P<closes>\d{4}-[^/\s]+)")
_INSTANCE = re.compile(r"instance(?: (?P<life>\d+[smhd]))?(?: reserve (?P<reserve>\d+[smhd]))?")
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LIFE_S = 24 * 3600.0
_RESERVE_S = 90 * 60.0
_DAY_MINUTES = 24 * 60
_BACK = timedelta(days=2)
_AHEAD = timedelta(days=9)
"""Far enough to see the next opening of any weekly window."""
_HELP = "write for example '22:00-06:00 Europe/Berlin', 'Sat,Sun 00:00-24:00' or '2026-12-01T22:00Z/2026-12-02T06:00Z'"


@dataclass(frozen=True, slots=True)
class Span:
    """From `opens` up to, and not including, `closes`; both in UTC."""

    opens: datetime
    closes: datetime


@dataclass(frozen=True, slots=True)
class Daily:
    """Minutes of the days on which it opens; closing at or before the opening is on the next day."""

    days: frozenset[int]
    opens: int
    closes: int
    zone: ZoneInfo

    def spans(self, after: datetime, before: datetime) -> Iterator[Span]:
        """Yield the spans that may touch the time between."""
        day = after.astimezone(self.zone).date() - timedelta(days=1)
        last = before.astimezone(self.zone).date()
        length = self.closes if self.closes > self.opens else self.closes + _DAY_MINUTES
        while day <= last:
            if day.weekday() in self.days:
                midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001 (a wall clock's; its zone comes next)
                span = Span(self._instant(midnight, self.opens), self._instant(midnight, length))
                if span.opens < span.closes:  # the hour that a clock leaves out may be all of it
                    yield span
            day += timedelta(days=1)

    def _instant(self, midnight: datetime, minutes: int) -> datetime:
        return (midnight + timedelta(minutes=minutes)).replace(tzinfo=self.zone).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Once:
    """One span."""

    span: Span

    def spans(self, after: datetime, before: datetime) -> Iterator[Span]:
        """Yield the span when it touches the time between."""
        if self.span.closes > after and self.span.opens < before:
            yield self.span


@dataclass(frozen=True, slots=True)
class Instance:
    """The life of a machine, counted from its boot."""

    life_s: float = _LIFE_S
    reserve_s: float = _RESERVE_S
    """At its end, when nothing runs any more: for what is left to upload."""

    def left_s(self, uptime_s: float) -> float:
        """Give for how long cells may still run; 0: no more."""
        return max(0.0, self.life_s - self.reserve_s - uptime_s)


Calendar = Daily | Once
TimeWindow = Calendar | Instance


def parse_window(text: str) -> TimeWindow:
    """Read a window; raise ValueError saying what is wrong."""
    found = _INSTANCE.fullmatch(text)
    if found is not None:
        return _instance(found)
    found = _ONCE.fullmatch(text)
    if found is not None:
        return Once(_once(found))
    found = _DAILY.fullmatch(text)
    if found is not None:
        return _daily(found)
    raise ValueError(f"{text!r} is no time window: {_HELP}")


def parse_calendar(text: str) -> Calendar:
    """Read a window that is the same on every host; raise ValueError for any other."""
    window = parse_window(text)
    if isinstance(window, Instance):
        raise ValueError(f"{text!r} is the life of one machine: set it as FARM_WINDOW of that machine's worker")  # noqa: TRY004 (pydantic wants a ValueError)
    return window


def _checked(text: str) -> str:
    parse_calendar(text)
    return text


WindowText = Annotated[str, AfterValidator(_checked)]
"""A calendar window as it was written."""


@lru_cache(256)
def calendars(texts: tuple[str, ...]) -> tuple[Calendar, ...]:
    """Read windows that were checked when they were written."""
    return tuple(parse_calendar(text) for text in texts)


def open_spans(windows: Iterable[Calendar], now: datetime) -> tuple[Span, ...]:
    """Give the spans that are not over and open within nine days, in order; those that touch are one."""
    end = now + _AHEAD
    spans = (span for window in windows for span in window.spans(now - _BACK, end))
    found = sorted((span for span in spans if span.opens <= end), key=lambda span: span.opens)
    joined = list[Span]()
    for span in found:
        if joined and span.opens <= joined[-1].closes:
            joined[-1] = Span(joined[-1].opens, max(joined[-1].closes, span.closes))
        else:
            joined.append(span)
    return tuple(span for span in joined if span.closes > now)


def left_s(windows: tuple[Calendar, ...], now: datetime) -> float | None:
    """Say for how many seconds work may go on; 0: nothing may be done now; None: no window bounds it."""
    if not windows:
        return None
    spans = open_spans(windows, now)
    return (spans[0].closes - now).total_seconds() if spans and spans[0].opens <= now else 0.0


def next_opening(windows: tuple[Calendar, ...], now: datetime) -> datetime | None:
    """Say when work may begin that may not go on now; None: never."""
    soon = next((span.opens for span in open_spans(windows, now) if span.opens > now), None)
    later = (window.span.opens for window in windows if isinstance(window, Once) and window.span.opens > now)
    return min(later, default=None) if soon is None else soon


def are_over(windows: tuple[Calendar, ...], now: datetime) -> bool:
    """Say whether there are windows, and none of them will be open again."""
    return bool(windows) and all(isinstance(window, Once) and window.span.closes <= now for window in windows)


def longest_s(windows: tuple[Calendar, ...]) -> float | None:
    """Say for how many seconds at most work may go on at a time; None: no window bounds it.

    A daily or weekly window is looked at over one week without a change of the clocks.
    """
    if not windows:
        return None
    some_week = datetime(2026, 1, 7, tzinfo=UTC)
    nows = (some_week, *(window.span.opens for window in windows if isinstance(window, Once)))
    return max((span.closes - span.opens).total_seconds() for now in nows for span in open_spans(windows, now))


def _instance(found: re.Match[str]) -> Instance:
    life_s = _LIFE_S if found["life"] is None else _seconds(found["life"])
    reserve_s = _RESERVE_S if found["reserve"] is None else _seconds(found["reserve"])
    if reserve_s >= life_s:
        raise ValueError(f"{found[0]!r} reserves its whole life for uploading: make the reserve shorter")
    return Instance(life_s, reserve_s)


def _seconds(text: str) -> float:
    return float(int(text[:-1]) * _UNITS[text[-1]])


def _once(found: re.Match[str]) -> Span:
    opens, closes = _instant(found["opens"]), _instant(found["closes"])
    if closes <= opens:
        raise ValueError(f"{found[0]!r} closes before it opens")
    return Span(opens, closes)


def _instant(text: str) -> datetime:
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text!r} is no time: write it as 2026-12-01T22:00Z") from None
    if instant.tzinfo is None:
        raise ValueError(f"{text!r} names no zone: end it with Z or +01:00")
    return instant.astimezone(UTC)


def _daily(found: re.Match[str]) -> Daily:
    opens, closes = _minutes(found["opens"]), _minutes(found["closes"])
    if opens in (_DAY_MINUTES, closes):
        raise ValueError(f"{found[0]!r} is never open: a whole day is 00:00-24:00")
    return Daily(_weekdays(found["days"]), opens, closes, _zone(found["zone"] or "UTC"))


def _minutes(text: str) -> int:
    hours, minutes = int(text[:2]), int(text[3:])
    total = hours * 60 + minutes
    if minutes >= 60 or total > _DAY_MINUTES:  # noqa: PLR2004 (an hour's minutes)
        raise ValueError(f"{text!r} is no time of day")
    return total


def _weekdays(text: str | None) -> frozenset[int]:
    if text is None:
        return frozenset(range(len(_DAYS)))
    days = set[int]()
    for part in text.split(","):
        ends = [_weekday(name) for name in part.split("-")]
        if len(ends) > 2:  # noqa: PLR2004 (a range has two ends)
            raise ValueError(f"{part!r} is no range of days: write for example Mon-Fri")
        days.add(ends[0])
        for first, last in pairwise(ends):
            days.update((first + step) % 7 for step in range((last - first) % 7 + 1))
    return frozenset(days)


def _weekday(name: str) -> int:
    if name not in _DAYS:
        raise ValueError(f"{name!r} is no day: they are {', '.join(_DAYS)}")
    return _DAYS.index(name)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (OSError, ValueError):  # unknown names raise a KeyError of their own
        raise ValueError(f"{name!r} is no time zone: write for example Europe/Berlin") from None
    except KeyError:
        raise ValueError(
            f"this machine knows no time zone {name!r}: write for example Europe/Berlin, and have the system's tzdata"
        ) from None
