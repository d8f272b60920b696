"""The scripted provider as a process on this machine, for `farm faults`: started by module name, never imported.

As a local worker does, it holds the end of a pipe of ours, and ends when we do.
"""

import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from farm.errors import TransientError

_MODULE = "worker.provider"
_START_S = 60.0
_END_S = 10.0


@contextmanager
def serving(script: Path) -> Iterator[str]:
    """Answer from a script while the block runs; gives the URL. Raises TransientError where it does not start."""
    argv = (sys.executable, "-m", _MODULE, str(script), "--port", "0", "--lifeline")
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603 (our own module, by absolute interpreter)
        try:
            yield _url(process)
        finally:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_END_S)
            except subprocess.TimeoutExpired:
                process.kill()


def _url(process: subprocess.Popen[bytes]) -> str:
    """Read the one line that it says when it listens."""
    assert process.stdout is not None  # noqa: S101 (it is a pipe)
    ready, _, _ = select.select((process.stdout,), (), (), _START_S)
    said = process.stdout.readline().decode().split() if ready else []
    if not said:
        raise TransientError("the scripted provider does not answer; it says why above, if it does")
    return said[-1]
