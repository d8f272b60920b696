"""Untrusted and unknown values as text: what a session wrote must not steer a terminal, a table or a page."""

import re
import unicodedata
from datetime import datetime
from decimal import Decimal

from pydantic import JsonValue

UNKNOWN = "unknown"

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]?|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]?"
)
_COMMANDS = re.compile(r"\A::|##(?=\[|vso\[|teamcity\[)")
"""What a CI takes for an order in what a program prints; a blank between its marks makes it words."""
_MARKDOWN = re.compile(r"[\\`*\[\]<>&|~$#@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|:(?=//)|(?<=www)\.")
"""What can start markup, close a table's cell, or become a link, a mention or a formula by itself."""
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn"}
"""Controls, direction overrides and other format characters, surrogates, private and unassigned code points."""


def one_line(text: str, most: int = 300) -> str:
    """Make `text` one plain line: terminal escapes dropped, invisible characters blanked, at most `most` characters.

    What was cut is counted at the end, so that nobody takes a part for the whole.
    """
    # Bounded first: patterns never run over megabytes of a guest's text.
    plain = _ESCAPES.sub("", text[: most * 4])
    seen = "".join(" " if char.isspace() or unicodedata.category(char) in _INVISIBLE else char for char in plain)
    line = _COMMANDS.sub(lambda found: " ".join(found[0]), " ".join(seen.split()))
    cut = max(0, len(line) - most) + max(0, len(text) - most * 4)
    return f"{line[:most].rstrip()}… ({cut} more characters)" if cut else line


def escape_markdown(text: str) -> str:
    """Escape one line so that Markdown shows it as it is, also inside a table; not at the start of a line."""
    return _MARKDOWN.sub(lambda found: _escaped(found[0]), one_line(text, most=2000))


def _escaped(char: str) -> str:
    # Entities where a backslash is not enough: renderers differ in tables, links, mentions and references.
    return f"\\{char}" if char in "\\`*_[]~$" else f"&#{ord(char)};"


def value_text(value: JsonValue) -> str:
    """Write a check's observed value or threshold."""
    match value:
        case None:
            return UNKNOWN
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return _number_text(value)
        case str():
            return one_line(value, most=120)
        case _:
            return one_line(str(value), most=120)


def _number_text(value: float) -> str:
    """Tell the thousands apart; half of a large count reads as the count does."""
    if abs(value) >= 10**15:
        return one_line(str(value), most=120)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.6g}"  # noqa: PLR2004 (from here on there are thousands)


def count_text(value: int | None) -> str:
    return UNKNOWN if value is None else f"{value:,}"


def money_text(value: Decimal | None) -> str:
    """Write US dollars; what rounds to nothing has no sign."""
    if value is None:
        return UNKNOWN
    cents = round(value, 4) + Decimal(0)  # adds away a negative zero
    return f"-${-cents:,.4f}" if cents < 0 else f"${cents:,.4f}"


def share_text(value: float | None) -> str:
    return UNKNOWN if value is None else f"{round(100 * value)} %"


def duration_text(seconds: float | None) -> str:
    """Write a duration in the unit that a person reads it in."""
    if seconds is None:
        return UNKNOWN
    if seconds < 100:  # noqa: PLR2004 (two digits of seconds still read well)
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"


def instant_text(instant: datetime | None) -> str:
    return UNKNOWN if instant is None else f"{instant:%Y-%m-%d %H:%M:%S} UTC"


def size_text(size_bytes: int) -> str:
    """Write a size in binary units."""
    size, units = float(size_bytes), ["B", "KiB", "MiB", "GiB"]
    while size >= 1024 and len(units) > 1:  # noqa: PLR2004 (the binary step)
        size, units = size / 1024, units[1:]
    return f"{size:.0f} {units[0]}" if units[0] == "B" else f"{size:.1f} {units[0]}"
