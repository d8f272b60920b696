"""The rule of skips, in one place: a test that is skipped at home fails in CI, whatever skipped it."""

import os
from collections.abc import Generator

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip, or an expected failure, into a failure that says why, when CI is set."""
    report = yield
    if report.skipped and os.environ.get("CI"):  # noqa: TID251 (tests have no settings)
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"not run in CI ({why}): make ops/bootstrap.sh dev install what it needs"
    return report
