"""The translator's own process: `python -m worker.translator <descriptor of its listener>`.

Its standard input is a pipe that only the worker can write to: the key comes through it, and its end is ours. Its
standard output carries one word, that it is ready; all else that is printed goes to its log.
"""

import asyncio
import os
import resource
import signal
import socket
import sys
import threading

from worker.translator.fence import close_the_files, close_the_network

_MOST_LOG_BYTES = 64 << 20
_MOST_MEMORY_BYTES = 8 << 30


def main(listener: int) -> None:
    """Serve until the worker closes its end of the pipe, be it by dying."""
    ready = os.dup(1)
    os.dup2(2, 1)
    key = sys.stdin.buffer.readline().decode().strip()
    threading.Thread(target=_end_with_the_worker, name="lifeline", daemon=True).start()
    resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_LOG_BYTES, _MOST_LOG_BYTES))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY_BYTES, _MOST_MEMORY_BYTES))
    close_the_network()
    from worker.translator.serving import Front  # noqa: PLC0415 (seconds of LiteLLM: the lifeline watches over them)

    close_the_files()
    asyncio.run(Front(key).serve(socket.socket(fileno=listener), ready))


def _end_with_the_worker() -> None:
    while os.read(0, 1024):
        pass
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]))
