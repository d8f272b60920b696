"""The two ways in which an attempt ends before its time."""

from farm.model import StopReason


class StoppedError(Exception):
    """Somebody wants this cell to stop; `reason` says who."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(f"stopped: {reason}")
        self.reason = reason


class VerifierBrokenError(Exception):
    """The hidden check could not be run, twice; nothing was proven about the answer."""
