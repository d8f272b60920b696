"""A door's other end, in a thread for each caller: answers in words, counts and echoes."""

import secrets
import socketserver
import threading
from contextlib import contextmanager

from sandbox.door import listening
from sandbox.spec import Door
from tests.builders.sandbox_rooms import work_root


class Caller(socketserver.StreamRequestHandler):
    """One line in says what comes out: `hello` a word, `count` the bytes until the caller's end, `give N` N bytes."""

    def handle(self):
        match self.rfile.readline().split():
            case [b"hello"]:
                self.wfile.write(b"welcome\n")
            case [b"count"]:
                self.wfile.write(b"%d\n" % sum(len(chunk) for chunk in iter(lambda: self.rfile.read(65536), b"")))
            case [b"give", size]:
                self.wfile.write(b"x" * int(size))
            case [b"echo"]:
                for line in self.rfile:
                    self.wfile.write(line)


class _Server(socketserver.ThreadingMixIn, socketserver.BaseServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener):
        super().__init__(None, Caller)
        self.socket = listener

    def fileno(self):
        return self.socket.fileno()

    def get_request(self):
        return self.socket.accept()

    def shutdown_request(self, request):
        request.close()


@contextmanager
def answering(owner, port=8080):
    """Answer callers of `owner` behind a door of its own."""
    folder = work_root() / f"door-{secrets.token_hex(4)}"
    folder.mkdir()
    with listening(folder / "door", owner) as listener:
        server = _Server(listener)
        served = threading.Thread(target=server.serve_forever, args=(0.02,))
        served.start()
        try:
            yield Door(folder / "door", port)
        finally:
            server.shutdown()
            served.join()
    folder.rmdir()
