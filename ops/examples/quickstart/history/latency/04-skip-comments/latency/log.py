"""Reading the access log."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """One line of the log."""

    method: str
    path: str
    status: int
    milliseconds: int


def parse(line):
    """Read one line; raise ValueError when it is not `<time> <method> <path> <status> <milliseconds>`."""
    _, method, path, status, milliseconds = line.split()
    return Request(method, path, int(status), int(milliseconds))


def read(lines):
    """Read all lines but blank ones and comments, in order."""
    return [parse(line) for line in lines if line.strip() and not line.startswith("#")]
