"""A worker that opens no door pays for none."""

import subprocess
import sys

_HEAVY = ("aiohttp", "yarl", "backports.zstd", "asyncio")


def test_the_http_library_is_loaded_for_the_first_door_only():
    told = f"import sys, worker.gateway; print([name for name in {_HEAVY} if name in sys.modules])"
    ran = subprocess.run((sys.executable, "-c", told), capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
