"""How long a provider asks us to wait."""

from datetime import UTC, datetime

import pytest

from worker.gateway.headers import retry_after_s

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("milliseconds", "stated", "expected"),
    [
        (None, None, None),
        (None, "7", 7.0),
        (None, " 7.5 ", 7.5),
        (None, "0", 0.0),
        (None, "-1", None),
        (None, "nan", None),
        (None, "inf", None),
        (None, "soon", None),
        (None, "", None),
        (None, "1e9", 86_400.0),
        (None, "Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        (None, "Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        (None, "Mon, 30 Nov 2026 12:00:30", None),
        (None, "Mon, 99 Nov 2026 12:00:30 GMT", None),
        ("1500", None, 1.5),
        ("1500", "7", 1.5),
        ("x", "7", 7.0),
    ],
)
def test_a_wait_is_read_or_unknown(milliseconds, stated, expected):
    assert retry_after_s(milliseconds, stated, NOW) == expected
