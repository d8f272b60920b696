"""Disks of a fixed size: what a guest writes there can use up neither the host's bytes nor its inodes."""

from sandbox.disk.disks import Disk, Disks, Found, clear, find
from sandbox.disk.meter import DISK, INODES

__all__ = ["DISK", "INODES", "Disk", "Disks", "Found", "clear", "find"]
