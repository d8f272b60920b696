"""The heartbeat goes on, whatever the registry says."""

from farm.adapters.memory import MemoryHosts
from farm.adapters.system_clock import SystemClock
from farm.errors import FarmError, SpecError, TransientError
from farm.model import Host
from farm.testing.clock import FakeClock
from farm.testing.coordination import a_host
from tests.services.waiting import wait_until
from worker.health.heartbeat import Heartbeat, Tempo


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
