"""Errors, classed by what the caller does next.

    FarmError
    ├── SpecError        the person must change something             exit 2
    │   └── RefusedError     a service refused this host, whatever it asks for
    ├── TransientError   try again later, after `retry_after_s`       exit 3
    ├── ConflictError    somebody else has it: stop quietly           exit 3
    └── IntegrityError   bytes are not what was recorded: tell a person   exit 4

A message names the thing, the value and what to do.
"""

import difflib
from collections.abc import Iterable


class FarmError(Exception):
    """The root: an error that we raise on purpose; a class that says nothing else ends as a bug does."""

    exit_code = 70


class SpecError(FarmError):
    """The person must change something: a spec, a setting, a machine."""

    exit_code = 2


class RefusedError(SpecError):
    """A service refused this host: its keys or settings are wrong, or have become so; another host's may be right."""


class TransientError(FarmError):
    """A service did not answer; the same call may succeed later."""

    exit_code = 3

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class ConflictError(FarmError):
    """Somebody else holds the right to do this; stop quietly."""

    exit_code = 3


class IntegrityError(FarmError):
    """Stored bytes are not the bytes that were recorded; a person must look."""

    exit_code = 4


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Offer, for a message about an unknown name, the nearest known one and the list of all."""
    names = tuple(known)
    near = difflib.get_close_matches(name, names, n=1)
    return (f"did you mean {near[0]!r}? " if near else "") + f"known are: {', '.join(names)}"
