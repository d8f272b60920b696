"""Ctrl-C and SIGTERM as a request: the first leaves the sweep open, the second cancels it."""

import signal
from types import FrameType
from typing import Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Counts requests to stop while the block lasts."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        for number in _SIGNALS:
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, before)

    @property
    def asked_to_stop(self) -> bool:
        return self.count > 0

    @property
    def asked_to_cancel(self) -> bool:
        return self.count > 1

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
