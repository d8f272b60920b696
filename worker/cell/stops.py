"""The ways in which an attempt ends before its time."""

from farm.model import FaultKind, StopReason


class StoppedError(Exception):
    """Somebody wants this cell to stop; `reason` says who."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(f"stopped: {reason}")
        self.reason = reason


class VerifierBrokenError(Exception):
    """The hidden check could not be run, twice; nothing was proven about the answer."""


class ProviderFailedError(Exception):
    """The provider did not answer a session, which so proved nothing about its arm."""

    def __init__(self, kind: FaultKind, detail: str, retry_after_s: float | None) -> None:
        super().__init__(detail)
        self.kind = kind
        self.retry_after_s = retry_after_s
