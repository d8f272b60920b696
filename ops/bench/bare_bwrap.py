"""bubblewrap alone: two empty sandboxes one after the other, as a cell has for its session and its oracle."""

import subprocess

import measure

_SYSTEM = ("--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64")
_PRIVATE = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108 (inside the sandbox)
_ARGV = ("bwrap", "--unshare-all", "--die-with-parent", *_SYSTEM, *_PRIVATE, "/usr/bin/true")


def spawn_twice() -> None:
    """Run two sandboxes to their end."""
    for _ in range(2):
        subprocess.run(_ARGV, check=True, env={}, executable="/usr/bin/bwrap")  # noqa: S603 (a fixed command)


def pairs_cost(count: int) -> measure.Cost:
    """Give the cost of `count` pairs, one after the other."""

    def all_pairs() -> None:
        for _ in range(count):
            spawn_twice()

    return measure.cost_of(all_pairs)
