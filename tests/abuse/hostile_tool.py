# ruff: noqa: PTH208, T201 (raw calls are its trade)
"""A session that starts a hostile tool: both say, for each way out, the errno or `done`. Runs inside the sandbox.

argv[1] is `tool` for one that runs in the tool room, `flat` for the session's own child; `child` is that tool itself.
"""

import errno
import json
import os
import socket
import subprocess
import sys


def connects(family, place):
    with socket.socket(family) as caller:
        caller.settimeout(5)
        try:
            caller.connect(place)
            caller.sendall(b"?")
            return "done" if caller.recv(1) == b"!" else "closed"
        except OSError as error:
            return errno.errorcode.get(error.errno, str(error))


def ways():
    return {
        "socket": connects(socket.AF_UNIX, "/run/model.sock"),
        "port": connects(socket.AF_INET, ("127.0.0.1", 8080)),
        "room": os.path.exists("/run/.tool.sock"),  # noqa: PTH110 (the same)
        "session": any(seen(pid) for pid in os.listdir("/proc") if pid.isdigit()),
    }


def seen(pid):
    """Whether a process is the session itself, and so a way to its root."""
    with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 (the same)
        return file.read().split(b"\0")[-2:-1] in ([b"tool"], [b"flat"])


if __name__ == "__main__":
    if sys.argv[-1] == "child":
        print(json.dumps(ways()))
    else:
        script = sys.argv[-2]
        words = [sys.executable, "-I", "-S", "-B", "-c", script, script, "child"]
        words = ["/.tool", *words] if sys.argv[-1] == "tool" else words
        child = subprocess.run(words, stdout=subprocess.PIPE, check=True)
        print(json.dumps({"agent": ways(), "child": json.loads(child.stdout)}))
