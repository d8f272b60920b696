"""What a suite says when the implementation that it is to test was not given."""

from typing import NoReturn

import pytest


def not_given(fixture: str) -> NoReturn:
    """Fail, naming the fixture that a subclass of the suite has to override."""
    pytest.fail(f"this suite tests an implementation of yours: subclass it and override its fixture {fixture!r}")
