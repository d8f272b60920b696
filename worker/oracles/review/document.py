"""A review as its session wrote it, and the labels that it is held against: strictly read, never mended."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field, ValidationError, model_validator

from farm.model import KIB, Value
from worker.documents import DocumentError, one_document

MOST_BYTES = 256 * KIB
_MOST_FINDINGS = 100


class ReviewError(Exception):
    """The bytes are no review; the message says which rule they break."""


class Severity(StrEnum):
    """How bad a defect is."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    @property
    def weight(self) -> int:
        return _WEIGHTS[self]

    @property
    def is_blocking(self) -> bool:
        return self in {Severity.CRITICAL, Severity.HIGH}


_WEIGHTS = {Severity.CRITICAL: 8, Severity.HIGH: 5, Severity.MEDIUM: 2, Severity.LOW: 1}


class Verdict(StrEnum):
    """What the reviewer says of the change as a whole."""

    APPROVE = "approve"
    COMMENT = "comment"
    REQUEST_CHANGES = "request_changes"


def _at_most(size: int) -> AfterValidator:
    def check(text: str) -> str:
        if len(text.encode()) > size:
            raise ValueError(f"is longer than {size} bytes of UTF-8")
        return text

    return AfterValidator(check)


def _below_repository(text: str) -> str:
    path = PurePosixPath(text.replace("\\", "/"))
    if not path.parts or path.is_absolute() or ".." in path.parts:
        raise ValueError("is no path below the repository")
    return path.as_posix()


_Name = Annotated[str, _at_most(128)]
_Text = Annotated[str, _at_most(4 * KIB)]
_Category = Annotated[str, _at_most(128), AfterValidator(str.lower)]
_Path = Annotated[str, _at_most(512), AfterValidator(_below_repository)]
_Version = Annotated[int, Field(strict=True, ge=1, le=1)]  # a Literal would take true for 1
_Line = Annotated[int, Field(strict=True, ge=1)]
V = TypeVar("V", "Finding", "Label")


class Finding(Value):
    """One defect as reported."""

    id: _Name
    severity: Severity
    path: _Path
    line: _Line
    end_line: _Line
    category: _Category
    scenario: _Text
    evidence: _Text
    recommendation: _Text
    blocking: Annotated[bool, Field(strict=True)]

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> "Finding":
        if self.end_line < self.line:
            raise ValueError(f"end_line {self.end_line} is before line {self.line}")
        return self

    @property
    def content(self) -> tuple[str | int, ...]:
        """Order findings by what they say, and not by where they stand."""
        return (self.path, self.category, self.line, self.end_line, self.severity, self.evidence, self.id)


class Label(Value):
    """One defect that is there."""

    id: _Name
    severity: Severity
    path: _Path
    line_start: _Line
    line_end: _Line
    category: _Category

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> "Label":
        if self.line_end < self.line_start:
            raise ValueError(f"line_end {self.line_end} is before line_start {self.line_start}")
        return self

    @property
    def content(self) -> tuple[str | int, ...]:
        """Order labels by what they say, and not by where they stand."""
        return (self.path, self.category, self.line_start, self.line_end, self.severity, self.id)


def _distinct(found: tuple[V, ...]) -> tuple[V, ...]:
    names = [one.id for one in found]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"the id {twice!r} stands twice")
    return found


_Findings = Annotated[tuple[Finding, ...], Field(max_length=_MOST_FINDINGS), AfterValidator(_distinct)]


class Review(Value):
    """What a session found."""

    schema_version: _Version
    verdict: Verdict
    findings: _Findings

    @model_validator(mode="after")
    def _verdict_fits(self) -> "Review":
        if self.verdict is Verdict.APPROVE and self.findings:
            raise ValueError("the verdict is approve, yet there are findings")
        if self.verdict is Verdict.REQUEST_CHANGES and not any(finding.blocking for finding in self.findings):
            raise ValueError("the verdict is request_changes, yet no finding is blocking")
        return self


class Labels(Value):
    """The defects that are there; none: the change is clean."""

    schema_version: _Version = 1
    findings: Annotated[tuple[Label, ...], Field(max_length=_MOST_FINDINGS), AfterValidator(_distinct)]


def read_review(body: bytes) -> Review:
    """Read what a session wrote; raise ReviewError naming the first rule that it breaks."""
    if len(body) > MOST_BYTES:
        raise ReviewError(f"it is larger than {MOST_BYTES} bytes")
    if not body:
        raise ReviewError("it is empty")
    try:
        document = one_document(body.decode())
    except UnicodeDecodeError as error:
        raise ReviewError(f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    except DocumentError as error:
        raise ReviewError(f"it is not one JSON document: {error}") from error
    if not isinstance(document, dict):
        raise ReviewError("it is no JSON object")
    try:
        return Review.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise ReviewError(_told(first["loc"], first["msg"])) from error


def _told(place: Iterable[int | str], message: str) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")
    says = message.removeprefix("Value error, ")
    return f"{path}: {says}" if path else says
