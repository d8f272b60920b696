"""What is dear to make and asked for again: the values that were used last, at most so many."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Kept(Generic[K, V]):
    """Keeps the `most` values that were used last; for one thread."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[K, V] = OrderedDict()

    def get_or(self, key: K, make: Callable[[], V]) -> V:
        """Give the value of `key`, made by `make` when it is not kept; what `make` raises keeps nothing."""
        if key not in self._values:
            self._values[key] = make()
            if len(self._values) > self._most:
                self._values.popitem(last=False)
        self._values.move_to_end(key)
        return self._values[key]
