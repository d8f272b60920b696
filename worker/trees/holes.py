"""Where a file's bytes stand, and where it has holes: room that it shows and does not take."""

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass

_BLOCK = 512  # what st_blocks counts in, on every file system


@dataclass(frozen=True, slots=True)
class Extent:
    """From where to where bytes stand."""

    start: int
    end: int


def may_have_holes(status: os.stat_result) -> bool:
    """Tell by its status whether a file takes less room than it shows; a small or compressed one may do so as well."""
    return status.st_blocks * _BLOCK < status.st_size


def extents(descriptor: int, size: int) -> Iterator[Extent]:
    """Yield where the first `size` bytes of a file stand, in order; where its file system can't tell, all of them."""
    end = 0
    while end < size:
        try:
            start = os.lseek(descriptor, end, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            return  # nothing but a hole from here on
        end = min(os.lseek(descriptor, start, os.SEEK_HOLE), size)
        if start < size:
            yield Extent(start, end)
