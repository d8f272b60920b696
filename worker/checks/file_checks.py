"""Checks of a finished workspace by one file each: what a person may state, and when it holds.

All fail closed. Of a regular file that is larger than may be, not UTF-8, or holds a NUL, only that it exists can hold;
of what is no regular file, or can't be reached without following a link, nothing.
"""

import re
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, assert_never

from pydantic import AfterValidator, Field, JsonValue

from farm.model import RelativePath, Value
from worker.documents import DocumentError, one_document, value_at

_POINTER = re.compile(r"(/([^~]|~[01])*)?")
MOST_TEXT = 4096


def _pointer(text: str) -> str:
    if not _POINTER.fullmatch(text):
        raise ValueError(
            f"{text!r} is no JSON pointer: it is empty or starts with a slash; write ~0 for ~ and ~1 for /"
        )
    return text


Literally: TypeAlias = Annotated[str, Field(min_length=1, max_length=MOST_TEXT)]


class FileExists(Value):
    """A regular file stands at the path."""

    kind: Literal["file_exists"]
    path: RelativePath


class FileAbsent(Value):
    """Nothing stands at the path, not even a link or a folder."""

    kind: Literal["file_absent"]
    path: RelativePath


class FileContains(Value):
    """The file holds the text."""

    kind: Literal["file_contains"]
    path: RelativePath
    text: Literally


class FileLacks(Value):
    """The file is there and does not hold the text."""

    kind: Literal["file_not_contains"]
    path: RelativePath
    text: Literally


class FileEquals(Value):
    """The file is the text, to the byte."""

    kind: Literal["file_equals"]
    path: RelativePath
    text: Annotated[str, Field(max_length=MOST_TEXT)]


class JsonEquals(Value):
    """The file is one JSON document, and what the pointer leads to equals the value.

    Numbers are equal by value, 3 and 3.0 among them; the order of keys does not matter; a key that stands twice is no
    JSON here.
    """

    kind: Literal["json_equals"]
    path: RelativePath
    pointer: Annotated[str, Field(max_length=2048), AfterValidator(_pointer)]
    value: JsonValue


class AlwaysFalse(Value):
    """Nothing solves the task: right is to say so."""

    kind: Literal["always_false"]
    reason: Literally


PathCheck: TypeAlias = FileExists | FileAbsent | FileContains | FileLacks | FileEquals | JsonEquals
FileCheck: TypeAlias = Annotated[PathCheck | AlwaysFalse, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing is there."""


@dataclass(frozen=True, slots=True)
class Text:
    """A regular file of UTF-8 without a NUL."""

    text: str


@dataclass(frozen=True, slots=True)
class NoText:
    """A regular file of which no content can be checked."""

    why: str


@dataclass(frozen=True, slots=True)
class Unreached:
    """Whatever stands there is no regular file that can be opened without following a link."""

    why: str


Found: TypeAlias = Absent | Text | NoText | Unreached


def complaint(check: PathCheck, found: Found) -> str | None:
    """Say why the check does not hold of what was found at its path; None when it holds.

    Nothing of the file and nothing of what is expected stands in the answer.
    """
    match check:
        case FileExists():
            return None if isinstance(found, Text | NoText) else _state(found)
        case FileAbsent():
            return None if isinstance(found, Absent) else "the path is not absent"
        case _:
            return _of_text(check, found.text) if isinstance(found, Text) else _state(found)


def _of_text(check: FileContains | FileLacks | FileEquals | JsonEquals, text: str) -> str | None:
    match check:
        case FileContains():
            return None if check.text in text else "the file does not hold the text"
        case FileLacks():
            return "the file holds the text" if check.text in text else None
        case FileEquals():
            return None if text == check.text else "the file is not the text"
        case JsonEquals():
            return _of_document(check, text)
        case _:
            assert_never(check)


def _of_document(check: JsonEquals, text: str) -> str | None:
    try:
        document = one_document(text)
    except DocumentError:
        return "the file is not one JSON document"
    try:
        given = value_at(document, check.pointer)
    except DocumentError:
        return f"nothing is at {check.pointer!r}"
    return None if equal(given, check.value) else f"the value at {check.pointer!r} is another"


def equal(one: JsonValue, other: JsonValue) -> bool:
    """Say whether two documents are the same, numbers by value; true is no number."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(equal(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(equal(*pair) for pair in zip(one, other, strict=True))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _state(found: Found) -> str:
    match found:
        case Absent():
            return "the path is absent"
        case Text():
            return "the path is a regular file"
        case NoText() | Unreached():
            return found.why
        case _:
            assert_never(found)
