from decimal import Decimal

import pytest

from farm.reporting.text import duration_text, escape_markdown, money_text, one_line, size_text, value_text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\x1b[31mred\x1b[0m b", "ared b"),
        ("\x1b]0;title\x07a", "a"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),
        ("a\r\nb\tc\u2028d", "a b c d"),
        ("a\u202eb\u200bc\x00d\x7f", "a b c d"),
        ("caf\u00e9 \u65e5\u672c \U0001f600", "caf\u00e9 \u65e5\u672c \U0001f600"),
        ("\x1b", ""),
        ("::error::no", ": :error::no"),
        ("  ::set-output name=a::b", ": :set-output name=a::b"),
        (
            "see a::b and ##vso[task.complete] ##[error] ##teamcity[x]",
            "see a::b and # #vso[task.complete] # #[error] # #teamcity[x]",
        ),
    ],
)
def test_a_line_is_plain_text(text: str, line: str) -> None:
    assert one_line(text) == line


def test_a_long_line_says_how_much_is_missing() -> None:
    assert one_line("x" * 1000, most=10) == "xxxxxxxxxx… (990 more characters)"


def test_megabytes_of_escapes_are_cut_before_they_are_searched() -> None:
    assert len(one_line("\x1b[" * 10_000_000, most=100)) < 200


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("a | b\n| c", "a &#124; b &#124; c"),
        ("<b>&amp;", "&#60;b&#62;&#38;amp;"),
        ("[x](http://y) `c` *d*", "\\[x\\](http&#58;//y) \\`c\\` \\*d\\*"),
        ("bash_tool_calls _it_", "bash_tool_calls \\_it\\_"),
        ("www.example.org @ada #12", "www&#46;example.org &#64;ada &#35;12"),
        ("back\\slash", "back\\\\slash"),
    ],
)
def test_markdown_shows_text_as_it_is(text: str, escaped: str) -> None:
    assert escape_markdown(text) == escaped


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "unknown"), (0, "0"), (False, "no"), (True, "yes"), (12345, "12,345"), (4.1, "4.1"), ("a\nb", "a b")],
)
def test_a_value_reads_as_text_and_nothing_is_not_zero(value: object, text: str) -> None:
    assert value_text(value) == text


def test_half_of_a_large_count_reads_as_the_count_does() -> None:
    assert [value_text(value) for value in (1234567, 1234567.5, -11203.5, 999.25)] == [
        "1,234,567",
        "1,234,567.5",
        "-11,203.5",
        "999.25",
    ]


def test_an_absurd_number_stays_short() -> None:
    assert len(value_text(10**4000)) < 160


def test_units_are_those_a_person_reads() -> None:
    assert [duration_text(s) for s in (None, 0.04, 99.9, 203, 7200)] == [
        "unknown",
        "0.0 s",
        "99.9 s",
        "3 min 23 s",
        "2 h 00 min",
    ]
    assert [size_text(n) for n in (0, 1023, 1024, 5 * 1024**3)] == ["0 B", "1023 B", "1.0 KiB", "5.0 GiB"]
    assert [money_text(m) for m in (None, Decimal(0), Decimal("1.23456"))] == ["unknown", "$0.0000", "$1.2346"]
    assert [money_text(Decimal(m)) for m in ("-0.0000001", "-1234.5")] == ["$0.0000", "-$1,234.5000"]
