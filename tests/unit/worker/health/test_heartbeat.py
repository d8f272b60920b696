"""The heartbeat goes on, whatever the registry says."""

from datetime import datetime, timedelta

from farm.adapters.memory import MemoryHosts, MemoryLeases
from farm.adapters.system_clock import SystemClock
from farm.errors import FarmError, SpecError, TransientError
from farm.model import Host
from farm.testing.clock import START, FakeClock
from farm.testing.coordination import a_host
from tests.services.waiting import wait_until
from worker.health.heartbeat import Heartbeat, Tempo, skew_s


class Refusing(MemoryHosts):
    """A registry that takes no beat until the errors are used up."""

    def __init__(self, *errors: FarmError) -> None:
        super().__init__(FakeClock())
        self._errors = list(errors)

    def beat(self, host: Host, ttl_s: float) -> None:
        if self._errors:
            raise self._errors.pop()
        super().beat(host, ttl_s)


def test_a_registry_that_does_not_answer_or_refuses_is_asked_again() -> None:
    hosts = Refusing(TransientError("no answer"), SpecError("this user may not write"))
    Heartbeat(hosts, lambda: a_host("h/1"), lambda _: False, SystemClock(), Tempo(0.05, 0.05)).start()
    wait_until(lambda: hosts.live() == (a_host("h/1"),))


def test_what_a_look_finds_is_told_at_once_and_facts_that_can_not_be_had_are_asked_for_again() -> None:
    hosts, told = MemoryHosts(FakeClock()), list[str]()

    def facts() -> Host:
        told.append("facts")
        if len(told) == 1:
            raise OSError("the work root is away")
        return a_host("h/1", busy=len(told))

    def look(host: Host) -> bool:
        told.append("look")
        return host.busy == 2

    Heartbeat(hosts, facts, look, SystemClock(), Tempo(beat_s=0.3, look_s=0.05)).start()
    wait_until(lambda: told[:5] == ["facts", "facts", "look", "facts", "look"])
    wait_until(lambda: bool(hosts.live()) and hosts.live()[0].busy > 2)


class Ahead(FakeClock):
    """A clock that goes on by two seconds whenever it is read, and is a minute ahead."""

    def now(self) -> datetime:
        self.advance(2)
        return super().now() + timedelta(seconds=60)


def test_the_skew_of_a_clock_is_measured_in_the_middle_of_the_question() -> None:
    clock = Ahead()
    book = MemoryLeases(FakeClock(START + timedelta(seconds=3)))
    assert skew_s(book, clock) == 60.0


def test_the_skew_is_unknown_while_the_book_does_not_answer() -> None:
    class Silent(MemoryLeases):
        def now(self) -> datetime:
            raise TransientError("no answer")

    assert skew_s(Silent(FakeClock()), FakeClock()) is None
