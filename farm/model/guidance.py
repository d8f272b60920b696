"""Guidance for a tool that an arm does not have: what is taken out of a workspace's instruction files, as text alone.

Marked blocks (`<!-- name:start -->` to `<!-- name:end -->`) and sections by their headings. A marker without its other
half is refused: nobody can say what it was to mark, and what stays would tell the arm of what it must not know.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from farm.model.base import Value
from farm.model.names import RelativePath

BlockName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]
Title = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")


class GuidanceError(ValueError):
    """A text whose markers are not in pairs."""


class Guidance(Value):
    """What is taken out of which files, and what is said instead."""

    files: Annotated[tuple[RelativePath, ...], Field(min_length=1, max_length=100)] = ("**/AGENTS.md", "**/CLAUDE.md")
    """Globs."""
    blocks: Annotated[tuple[BlockName, ...], Field(max_length=100)] = ()
    sections: Annotated[tuple[Title, ...], Field(max_length=100)] = ()
    """Headings, in any case: each goes with all that stands below it, up to the next of its level."""
    note: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] | None = None
    """Put at the end of each of the files."""

    @model_validator(mode="after")
    def _takes_something(self) -> Self:
        if not self.blocks and not self.sections:
            raise ValueError("guidance names neither blocks nor sections; name what is to be taken out")
        return self


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text without its guidance, and which blocks and sections were in it."""

    text: str
    found: frozenset[str]


def stripped(text: str, guidance: Guidance) -> Stripped:
    """Take the guidance out of `text` and put the note behind it; raise GuidanceError for markers not in pairs."""
    found: set[str] = set()
    for name in guidance.blocks:
        left = _without_block(text, name)
        found |= {name} if left != text else set()
        text = left
    titles = {title.casefold(): title for title in guidance.sections}
    left, gone = _without_sections(text, frozenset(titles))
    found |= {titles[title] for title in gone}
    if guidance.note is not None:
        left = f"{left.rstrip()}\n\n{guidance.note.strip()}\n".lstrip("\n")
    return Stripped(left, frozenset(found))


def _without_block(text: str, name: str) -> str:
    plain = re.escape(name)
    marker = re.compile(rf"<!--[ \t]*{plain}:(start|end)[ \t]*-->")
    marks = list(marker.finditer(text))
    words = [mark.group(1) for mark in marks]
    spelled = len(re.findall(rf"<!--\s*{plain}\s*:", text))
    if words != ["start", "end"] * (len(words) // 2) or spelled != len(words):
        raise GuidanceError(f"the markers of block {name!r} are not in pairs of start and end")
    kept, at = "", 0
    for start, end in zip(marks[::2], marks[1::2], strict=True):
        kept += text[at : start.start()]
        at = end.end()
        if (not kept or kept.endswith("\n")) and text[at : at + 1] == "\n":
            at += 1  # the block had its lines to itself
    return kept + text[at:]


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    level: int = 0
    """Of the heading that it is; 0: none."""
    title: str = ""


def _without_sections(text: str, titles: frozenset[str]) -> tuple[str, set[str]]:
    kept: list[str] = []
    gone: set[str] = set()
    leaving = 0
    """The level of the section that is left out; 0: none is."""
    for line in _lines(text.splitlines(keepends=True)):
        if line.level and (not leaving or line.level <= leaving):
            leaving = line.level if line.title in titles else 0
            gone |= {line.title} & titles
        if not leaving:
            kept.append(line.text)
    return "".join(kept), gone


def _lines(lines: list[str]) -> Iterator[_Line]:
    """Say which lines are headings; what stands in a fence is none."""
    fence = ""
    for number, text in enumerate(lines):
        opened = _FENCE.match(text)
        if fence:
            yield _Line(text)
            closes = opened is not None and opened.group(1).startswith(fence)
            fence = "" if closes and not text.strip().strip(fence[0]) else fence
            continue
        if opened is not None:
            fence = opened.group(1)
        heading = _HEADING.match(text.rstrip("\r\n"))
        below = _UNDERLINE.match(lines[number + 1].rstrip("\r\n")) if number + 1 < len(lines) else None
        if heading is not None:
            yield _Line(text, len(heading.group(1)), (heading.group(2) or "").strip().casefold())
        elif below is not None and text.strip() and opened is None:
            yield _Line(text, 1 if below.group(1)[0] == "=" else 2, text.strip().casefold())
        else:
            yield _Line(text)
