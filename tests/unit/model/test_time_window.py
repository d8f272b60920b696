"""Time windows: what they read as, and when they are open."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from farm.model.time_window import (
    Calendar,
    Instance,
    Span,
    are_over,
    calendars,
    left_s,
    next_opening,
    open_spans,
    parse_calendar,
    parse_window,
)

HOUR = 3600.0


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def windows(*texts: str) -> tuple[Calendar, ...]:
    return tuple(parse_calendar(text) for text in texts)


@pytest.mark.parametrize(
    ("text", "now", "left"),
    [
        ("22:00-06:00", "2026-12-01T21:59Z", 0),
        ("22:00-06:00", "2026-12-01T22:00Z", 8 * HOUR),
        ("22:00-06:00", "2026-12-02T05:00Z", HOUR),
        ("22:00-06:00", "2026-12-02T06:00Z", 0),
        ("22:00-06:00 Europe/Berlin", "2026-12-01T21:00Z", 8 * HOUR),
        ("22:00-06:00 Europe/Berlin", "2026-07-01T20:00Z", 8 * HOUR),
        ("22:00-06:00 Europe/Berlin", "2026-03-28T21:00Z", 7 * HOUR),  # the clock leaves an hour out
        ("22:00-06:00 Europe/Berlin", "2026-10-24T20:00Z", 9 * HOUR),  # and has one twice
        ("Sun 22:00-06:00", "2026-11-29T22:00Z", 8 * HOUR),
        ("Sun 22:00-06:00", "2026-11-30T05:00Z", HOUR),
        ("Sun 22:00-06:00", "2026-11-30T22:00Z", 0),
        ("Fri-Mon 10:00-11:00", "2026-11-28T10:30Z", HOUR / 2),
        ("Fri-Mon 10:00-11:00", "2026-12-01T10:30Z", 0),
        ("Tue,Thu 10:00-11:00", "2026-12-03T10:00Z", HOUR),
        ("09:00-24:00", "2026-12-01T23:00Z", HOUR),
        ("2026-12-01T22:00+01:00/2026-12-02T06:00Z", "2026-12-01T21:00Z", 9 * HOUR),
        ("2026-12-01T22:00+01:00/2026-12-02T06:00Z", "2026-12-02T06:00Z", 0),
    ],
)
def test_a_window_is_open_from_its_opening_up_to_its_close(text: str, now: str, left: float) -> None:
    assert left_s(windows(text), at(now)) == left


def test_without_a_window_nothing_bounds_the_time() -> None:
    assert left_s((), at("2026-12-01T00:00Z")) is None


def test_windows_that_touch_are_one() -> None:
    both = windows("22:00-24:00", "00:00-06:00")
    assert left_s(both, at("2026-12-01T23:00Z")) == 7 * HOUR
    assert len(open_spans(both, at("2026-12-01T23:00Z"))) == 10


def test_the_next_opening_is_the_first_that_is_still_to_come() -> None:
    both = windows("Sun 22:00-06:00", "2026-12-04T10:00Z/2026-12-04T11:00Z")
    assert next_opening(both, at("2026-11-29T23:00Z")) == at("2026-12-04T10:00Z")
    assert next_opening(both, at("2026-12-04T10:00Z")) == at("2026-12-06T22:00Z")
    assert next_opening(windows("2026-12-04T10:00Z/2026-12-04T11:00Z"), at("2026-12-05T00:00Z")) is None


@pytest.mark.parametrize(
    ("text", "uptime_s", "left"),
    [
        ("instance", 0, 22.5 * HOUR),
        ("instance", 22 * HOUR, HOUR / 2),
        ("instance", 30 * HOUR, 0),
        ("instance 6h", HOUR, 3.5 * HOUR),
        ("instance 60m reserve 300s", 0, HOUR - 300),
    ],
)
def test_an_instance_lives_from_its_boot_and_keeps_a_reserve(text: str, uptime_s: float, left: float) -> None:
    window = parse_window(text)
    assert isinstance(window, Instance)
    assert window.left_s(uptime_s) == left


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nightly", "is no time window"),
        ("22:00-25:00", "no time of day"),
        ("22:60-23:00", "no time of day"),
        ("22:00-22:00", "is never open"),
        ("24:00-02:00", "is never open"),
        ("Sunday 22:00-06:00", "'Sunday' is no day"),
        ("Mon-Wed-Fri 22:00-06:00", "no range of days"),
        ("22:00-06:00 Europe/Atlantis", "no time zone"),
        ("22:00-06:00 ../../etc", "no time zone"),
        ("2026-12-01T22:00/2026-12-02T06:00", "names no zone"),
        ("2026-12-02T06:00Z/2026-12-01T22:00Z", "closes before it opens"),
        ("2026-13-01T22:00Z/2026-12-02T06:00Z", "is no time"),
        ("instance 1h", "reserves its whole life"),
    ],
)
def test_what_is_no_window_says_why(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_window(text)


def test_a_machine_s_life_is_no_calendar() -> None:
    with pytest.raises(ValueError, match="FARM_WINDOW"):
        parse_calendar("instance")


TEXTS = ("22:00-06:00 Europe/Berlin", "Sun 22:00-06:00", "Mon-Fri 01:30-02:30 America/New_York", "00:00-24:00")
instants = st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)).map(lambda one: one.replace(tzinfo=UTC))  # noqa: DTZ001 (the strategy wants them plain)


@given(texts=st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3), now=instants)
@example(texts=["22:00-06:00 Europe/Berlin", "00:00-24:00"], now=at("2026-01-01T23:00Z"))
def test_spans_are_ordered_apart_and_agree_with_what_is_left(texts: list[str], now: datetime) -> None:
    found = windows(*texts)
    spans = open_spans(found, now)
    assert all(span.opens < span.closes for span in spans)
    assert all(one.closes < two.opens for one, two in itertools.pairwise(spans))
    left = left_s(found, now)
    assert left is not None
    assert (left > 0) == any(span.opens <= now < span.closes for span in spans)
    if 0 < left < 8 * 24 * HOUR:
        assert left_s(found, now + timedelta(seconds=left / 2)) == pytest.approx(left / 2)
    opening = next_opening(found, now)
    if opening is not None:
        assert opening > now
        assert (left_s(found, opening) or 0) > 0
        assert left_s(found, opening - timedelta(microseconds=1)) == 0


def test_a_span_is_a_plain_value() -> None:
    span = open_spans(windows("2026-12-01T22:00Z/2026-12-02T06:00Z"), at("2026-12-01T00:00Z"))
    assert span == (Span(at("2026-12-01T22:00Z"), at("2026-12-02T06:00Z")),)


def test_a_window_far_ahead_is_told_and_one_that_is_past_is_over() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    far = calendars(("2026-03-01T00:00Z/2026-03-02T00:00Z",))
    assert next_opening(far, now) == datetime(2026, 3, 1, tzinfo=UTC)
    assert not are_over(far, now)
    assert not are_over(far, datetime(2026, 3, 1, 12, tzinfo=UTC))
    assert are_over(far, datetime(2026, 3, 2, tzinfo=UTC))
    assert not are_over(
        calendars(("2026-03-01T00:00Z/2026-03-02T00:00Z", "22:00-06:00")), datetime(2027, 1, 1, tzinfo=UTC)
    )
    assert not are_over((), now)
