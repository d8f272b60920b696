"""Which queues a worker takes tickets from: all whose needs its host offers, whatever sweep they are of."""

from collections.abc import Iterable

from farm.model import ANYWHERE, lacking, queue_of


def wanted(asked: Iterable[frozenset[str]], offered: frozenset[str]) -> frozenset[str]:
    """Name the queues that a host takes from which offers `offered`, of those that need what is `asked`."""
    return frozenset({ANYWHERE, *(queue_of(needed) for needed in asked if not lacking(needed, offered))})
