"""Disks of a fixed size: what a guest writes there can use up neither the host's bytes nor its inodes."""

from sandbox.disk.disks import Disk, Disks, Found, clear, find
from sandbox.disk.meter import DISK, INODES
from sandbox.disk.overlays import Overlay, Overlays

__all__ = ["DISK", "INODES", "Disk", "Disks", "Found", "Overlay", "Overlays", "clear", "find"]
