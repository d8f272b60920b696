"""What is made ahead for the next run."""

import pytest

from sandbox.backends.spares import Spares
from sandbox.errors import SandboxError
from sandbox.process.spawner import Spawner


class NoGroups:
    """A machine on which no control group can be made any more."""

    kind = "none left"

    def make(self):
        raise SandboxError("no control group is left")

    def clear_leftovers(self):
        return 0

    def close(self):
        pass


def test_a_pair_that_can_not_be_made_ahead_is_told_to_the_run_that_needs_it_and_to_no_other():
    spares = Spares(Spawner(("/nowhere",), {}), NoGroups())
    spares.make_ready()
    with pytest.raises(SandboxError, match="no control group is left"):
        spares.take()
