"""The process that imports the candidate: runs pytest and writes each test's outcome to a pipe.

Nothing here is trusted after the first import of the candidate. The workspace comes after the standard library and our
pytest in the import path, so that neither can be shadowed.
"""

import json
import os
import site
import sys
from collections.abc import Callable
from typing import Any

Record = Callable[[dict[str, Any]], None]


def writer(descriptor: int, token: str) -> Record:
    """Give a function that writes one record; what it needs is bound now, before anybody can replace it."""
    write, dumps = os.write, json.dumps

    def record(fields: dict[str, Any]) -> None:
        line = (dumps({"token": token, **fields}) + "\n").encode()
        while line:
            line = line[write(descriptor, line) :]

    return record


class Recorder:
    """The plug-in that tells of every phase of every test."""

    def __init__(self, record: Record) -> None:
        self._record = record

    def pytest_runtest_logreport(self, report: Any) -> None:  # noqa: ANN401 (pytest may not be imported here yet)
        """Tell of one phase; an expected failure is no pass, whatever came of it."""
        outcome = "xfail" if hasattr(report, "wasxfail") else report.outcome
        name = report.nodeid.partition("::")[2]
        self._record({"file": report.location[0], "name": name, "when": report.when, "outcome": outcome})

    def pytest_collectreport(self, report: Any) -> None:  # noqa: ANN401 (as above)
        """Tell of a file that could not be imported."""
        if report.failed:
            self._record({"broken": report.nodeid})


def main() -> None:
    """Run the order in argv; the token comes on stdin."""
    order = json.loads(sys.argv[1])
    record = writer(order["descriptor"], sys.stdin.readline().strip())
    sys.path.insert(0, order["kit"])
    import pytest  # noqa: PLC0415 (it is found only now)

    record({"ready": pytest.__version__})
    sys.path += [order["hidden"], *order["import_from"], *site.getsitepackages()]
    options = ["-q", "--tb=short", "--color=no", "--noconftest", "--import-mode=importlib", "-p", "no:cacheprovider"]
    place = ["-c", order["ini"], "--rootdir", order["hidden"]]
    status = pytest.main([*options, *place, *order["tests"]], plugins=[Recorder(record)])
    record({"end": int(status)})


if __name__ == "__main__":
    main()
