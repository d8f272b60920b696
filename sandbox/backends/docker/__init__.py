"""The docker backend: for programs that need a root file system of their own, which an image brings."""

from sandbox.backends.docker.backend import Docker

__all__ = ["Docker"]
