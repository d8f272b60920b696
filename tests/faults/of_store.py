"""Faults 28 to 33: what happens between the workers and the S3 server, and to the server."""

import itertools
import os
import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from farm.model import Digest
from tests.faults.fault import Fault, Struck
from tests.faults.fleet import as_it_is
from tests.faults.invariants import seen
from tests.faults.of_redis import begun, costs_no_attempt
from tests.faults.points import Armed
from tests.faults.sweep import CELLS, Sweep
from tests.services.proxy import Exchange, Trick


def for_a_while(trick: Trick, seconds: float) -> Callable[[Sweep], Struck]:
    """Let a trick be done to every request of the farm.

    A claim whose record takes longer than its lease of two seconds may cost an attempt; leases are 30 s outside tests.
    """

    def strike(sweep: Sweep) -> Struck:
        struck = begun(sweep)
        sweep.fleet.tricks.now = trick
        time.sleep(seconds)
        sweep.fleet.tricks.now = as_it_is
        sweep.await_results(CELLS)
        return struck

    return strike


def nobody_there(request: Exchange) -> None:
    request.is_dropped = True


def _sometimes(trick: Trick, share: float) -> Trick:
    dice = random.Random(7)  # noqa: S311 (dice, not secrets)

    def perhaps(request: Exchange) -> None:
        if dice.random() < share:
            trick(request)

    return perhaps


def answered(status: int, code: str) -> Trick:
    def trick(request: Exchange) -> None:
        request.status, request.answer = status, f"<Error><Code>{code}</Code></Error>".encode()

    return trick


def in_turn(*tricks: Trick) -> Trick:
    each = itertools.cycle(tricks)

    def trick(request: Exchange) -> None:
        next(each)(request)

    return trick


REFUSALS = (answered(500, "InternalError"), answered(503, "SlowDown"), answered(429, "TooManyRequests"))


def slow(_request: Exchange) -> None:
    time.sleep(0.4)


def reset(request: Exchange) -> None:
    request.is_cut = True


def cut_short(request: Exchange) -> None:
    request.is_truncated = True


def flipped(request: Exchange) -> None:
    if request.method == "PUT" and request.body:
        request.body = request.body[:-1] + bytes([request.body[-1] ^ 1])


def conflicts_once(sweep: Sweep) -> Struck:
    """Each object's first creation conflicts with another."""
    met = set[str]()

    def trick(request: Exchange) -> None:
        if request.method == "PUT" and request.path not in met:
            met.add(request.path)
            answered(409, "ConditionalRequestConflict")(request)

    sweep.fleet.tricks.now = trick
    struck = begun(sweep)
    costs_no_attempt(sweep)
    return struck


def server_killed_during_uploads(sweep: Sweep) -> Struck:
    """A large object is on its way as well, in parts."""
    sweep.fleet.points.arm(Armed("before outcome", "wait", sweep.id))
    sweep.coordinate()
    sweep.await_waiting()
    struck = Struck(seen(sweep))
    large = sweep.fleet.folder / "large"
    large.write_bytes(os.urandom(1 << 20) * 65)
    store, digests = sweep.fleet.store(), list[Digest]()
    upload = threading.Thread(target=lambda: digests.append(store.blobs.put_file(large)))
    with ExitStack() as after:
        after.callback(large.unlink)
        upload.start()
        time.sleep(0.2)
        sweep.fleet.s3.process.kill()
        sweep.fleet.points.disarm()
        sweep.fleet.s3.process.start_again()
        upload.join(30)
        assert Digest.of(large.read_bytes()) == digests[0]
        assert Digest.of(store.blobs.get(digests[0])) == digests[0]
    sweep.await_results(CELLS)
    return struck


def keys_expire(sweep: Sweep) -> Struck:
    """The coordinator says in one line what is wrong; with new keys another goes on."""
    struck = begun(sweep)
    sweep.fleet.tricks.now = answered(403, "ExpiredToken")
    last = sweep.end()
    assert "ExpiredToken" in last["error"]
    assert "FARM_S3_ACCESS_KEY" in last["error"]
    sweep.fleet.tricks.now = as_it_is
    sweep.coordinate()
    return struck


FAULTS = (
    Fault(28, "no-way-to-s3-longer-than-a-lease", for_a_while(nobody_there, 3)),
    Fault(29, "s3-answers-with-errors", for_a_while(_sometimes(in_turn(*REFUSALS), 0.5), 1.5)),
    Fault(29, "s3-is-slow", for_a_while(slow, 1.5)),
    Fault(29, "s3-resets-connections", for_a_while(_sometimes(reset, 0.4), 1.5)),
    Fault(29, "s3-cuts-answers-short", for_a_while(_sometimes(cut_short, 0.4), 1.5)),
    Fault(30, "s3-conflicts-once", conflicts_once),
    Fault(31, "s3-gets-other-bytes", for_a_while(_sometimes(flipped, 0.5), 1.5)),
    Fault(32, "s3-is-killed-during-uploads", server_killed_during_uploads),
    Fault(33, "s3-keys-expire", keys_expire),
)
