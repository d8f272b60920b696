"""Whose fault it is when a session did not end well."""

import pytest

from farm.model import DoorReport, ExitKind, ExitReason, FaultKind, ProcessExit, RequestEnd, SessionReport
from worker.cell.doors import with_door
from worker.cell.stops import ProviderFailedError

OUTAGES = [RequestEnd.UNAVAILABLE, RequestEnd.STALLED, RequestEnd.CUT]
THE_ARMS = [RequestEnd.REJECTED, RequestEnd.REFUSED, RequestEnd.CLIENT_GONE, RequestEnd.SLOW_READER]


def failed():
    ended = ProcessExit(kind=ExitKind.EXITED, code=1, wall_s=1.0)
    return SessionReport(name="work", exit=ended, reason=ExitReason.CRASHED, problem="it gave up")


def door(failure, answered=0):
    ends = {failure: 1} | ({RequestEnd.ANSWERED: answered} if answered else {})
    return DoorReport(provider="acme", origin="http://x", ends=ends, last_failure=failure, last_failure_status=403)


def kind_of(failure, answered=0):
    try:
        with_door(failed(), door(failure, answered))
    except ProviderFailedError as error:
        return error.kind
    return None


@pytest.mark.parametrize("answered", [0, 3])
def test_a_session_that_its_provider_ended_is_not_the_arms(answered):
    assert [kind_of(end, answered) for end in OUTAGES] == [FaultKind.PROVIDER] * 3
    assert kind_of(RequestEnd.RATE_LIMITED, answered) is FaultKind.RATE_LIMIT
    assert kind_of(RequestEnd.DENIED, answered) is FaultKind.ACCESS
    assert [kind_of(end, answered) for end in THE_ARMS] == [None] * 4


def test_a_malformed_answer_excuses_only_a_session_that_had_no_other():
    assert kind_of(RequestEnd.MALFORMED) is FaultKind.PROVIDER
    assert kind_of(RequestEnd.MALFORMED, 3) is None
