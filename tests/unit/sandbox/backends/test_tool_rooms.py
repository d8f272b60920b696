"""How a session and its rooms end as one."""

import pytest

from sandbox.backends.tool_rooms import Both
from sandbox.limits import Usage
from sandbox.spec import Exit, ExitKind
from sandbox.testing import script

MORE = Usage(1.0, 60, 4, ())
USED = Usage(2.0, 70, 3, ("memory",))
PARTS = {"wall_s": 1.0, "cpu_s": 0.5, "peak_memory_bytes": 50, "peak_processes": 5, "limits_touched": ("processes",)}
BOTH = {
    "wall_s": 1.0,
    "cpu_s": 3.5,
    "peak_memory_bytes": 70,
    "peak_processes": 5,
    "limits_touched": ("processes", "memory"),
}


@pytest.mark.parametrize(
    ("session", "whole"),
    [
        (Exit(ExitKind.EXITED, code=137, **PARTS), Exit(ExitKind.LIMIT, limit="memory", **BOTH)),
        (Exit(ExitKind.SIGNALED, signal=9, **PARTS), Exit(ExitKind.LIMIT, limit="memory", **BOTH)),
        (Exit(ExitKind.STOPPED, **PARTS), Exit(ExitKind.STOPPED, **BOTH)),
        (Exit(ExitKind.LIMIT, limit="wall", **PARTS), Exit(ExitKind.LIMIT, limit="wall", **BOTH)),
    ],
    ids=["exited", "signaled", "stopped", "out of time"],
)
def test_a_room_that_ran_out_of_memory_ends_its_session_unless_that_was_ended_before(session, whole):
    assert Both(script(""), ended=session, used=(USED, MORE)).whole() == whole
