"""All faults, by their numbers in the table."""

from tests.faults import of_coordinator, of_hosts, of_redis, of_sessions, of_store, of_workers
from tests.faults.fault import Fault

_MODULES = (of_redis, of_workers, of_coordinator, of_store, of_sessions, of_hosts)

FAULTS: tuple[Fault, ...] = tuple(
    sorted((fault for module in _MODULES for fault in module.FAULTS), key=lambda fault: fault.id)
)
