"""The other end of a run's channel: a spawner that answers as it is told, and keeps what it heard."""

import os
import socket
import threading
from contextlib import contextmanager

from sandbox.process.reports import Report, Status
from sandbox.process.spawner import Channel
from sandbox.process.tree import Tree


@contextmanager
def a_tree(status, found=None, fold=None):
    """Give a tree whose bubblewrap told `status` and ends when it is killed, and what its spawner has heard.

    To `find` the spawner answers with the pidfd of `found`, or that there is no such process.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    heard = []

    def answer():
        while text := theirs.recv(128):
            heard.append(text)
            if text == b"kill":
                theirs.send(b"ended 0 0 0")
            elif found is None:
                theirs.send(b"gone")
            else:
                pidfd = os.pidfd_open(found)
                socket.send_fds(theirs, [b"found"], [pidfd])
                os.close(pidfd)

    answering = threading.Thread(target=answer)
    answering.start()
    tree = Tree(Channel(ours, os.pidfd_open(os.getpid())), Status(_told(status)), Report(_told(b"")), fold)
    try:
        yield tree, heard
    finally:
        tree.close()
        answering.join()
        theirs.close()


def _told(text):
    read, write = os.pipe()
    os.write(write, text)
    os.close(write)
    return read
