"""The system-call filter, made here byte by byte: no library, the same bytes on every machine."""

from sandbox.seccomp.policy import Architecture, architecture_here, architecture_of, program

__all__ = ["Architecture", "architecture_here", "architecture_of", "program"]
