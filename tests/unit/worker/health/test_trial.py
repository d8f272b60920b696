"""A preflight beside the worker's work: what it says, and what its silence says."""

import json
import sys

import pytest

from tests.services.waiting import wait_until
from worker.health.trial import Proof, Trial

HOLDS = {"name": "git", "ok": True, "detail": "2.39", "fix": ""}
BROKEN = {"name": "sandbox", "ok": False, "detail": "no user namespaces", "fix": "sysctl"}


@pytest.mark.parametrize(
    ("says", "proof"),
    [
        (json.dumps([HOLDS]), Proof()),
        (json.dumps([HOLDS, BROKEN]), Proof("sandbox: no user namespaces")),
        (json.dumps([BROKEN, BROKEN]), Proof("sandbox: no user namespaces; sandbox: no user namespaces")),
    ],
)
def test_a_preflight_says_what_is_broken(says: str, proof: Proof) -> None:
    trial = Trial([sys.executable, "-c", f"import sys; print({says!r}); sys.exit(2)"])
    wait_until(lambda: trial.proof is not None)
    assert trial.proof == proof


@pytest.mark.parametrize("argv", [[sys.executable, "-c", "print('Killed')"], [sys.executable, "-c", ""], ["/nowhere"]])
def test_a_preflight_that_says_nothing_proves_nothing(argv: list[str]) -> None:
    trial = Trial(argv)
    wait_until(lambda: trial.proof is not None)
    assert trial.proof is not None
    assert trial.proof.problem is not None
    assert trial.proof.problem.startswith("it gave no answer")
