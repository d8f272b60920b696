"""Logs that nobody reads."""

import os
import subprocess
import sys

_SAYS = """
import structlog
from farm import telemetry
telemetry.configure(json=True)
for number in range(2000):
    structlog.get_logger().info("cell.done", number=number)
print("worked")
"""


def test_a_log_that_nobody_reads_any_more_stops_no_work() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([sys.executable, "-c", _SAYS], stdout=subprocess.PIPE, stderr=writer, check=False)
    os.close(writer)
    assert ended.stdout == b"worked\n"
