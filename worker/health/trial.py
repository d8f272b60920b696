"""A preflight while the worker goes on: in a process of its own, which proves the host as a new worker would."""

import json
import subprocess
import threading
from dataclasses import dataclass

_LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Proof:
    """What a preflight found; no problem: the host can run cells."""

    problem: str | None = None


class Trial:
    """One preflight, from the moment that it is made."""

    def __init__(self, argv: list[str]) -> None:
        self._argv = argv
        self._proof: Proof | None = None
        threading.Thread(target=self._run, name="preflight", daemon=True).start()

    @property
    def proof(self) -> Proof | None:
        """What was found; None: it still runs."""
        return self._proof

    def _run(self) -> None:
        try:
            ran = subprocess.run(  # noqa: S603 (our own module)
                self._argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT_S, check=False
            )
            broken = [probe for probe in json.loads(ran.stdout) if not probe["ok"]]
        except (OSError, subprocess.TimeoutExpired, ValueError, TypeError, KeyError) as error:
            self._proof = Proof(f"it gave no answer: {error}")
        else:
            told = "; ".join(f"{probe['name']}: {probe['detail']}" for probe in broken)
            self._proof = Proof(told or None)
