"""All faults, by their numbers in the table: each row once, and its variants too with FARM_TEST_VARIANTS set."""

import os

from tests.faults import of_coordinator, of_hosts, of_redis, of_sessions, of_store, of_workers
from tests.faults.fault import Fault

_MODULES = (of_redis, of_workers, of_coordinator, of_store, of_sessions, of_hosts)
_VARIANTS = {
    "redis-is-killed-and-back",
    "redis-is-blocked",
    "slot-crashes",
    "sigterm-to-the-group",
    "slot-ends-after-an-upload",
    "slot-ends-between-result-and-hint",
    "slot-ends-between-claim-and-start",
    "coordinator-ends-before-a-ticket",
    "s3-is-slow",
    "s3-cuts-answers-short",
    "disk-of-a-host-is-gone",
    "host-has-no-inodes-left",
    "session-writes-a-giant-file",
    "cancelled-during-a-start",
    "host-is-cut-off-for-a-moment",
}
"""Other kinds of a row that another case stands for: they would add two minutes to every run."""

_WANTS_ALL = bool(os.environ.get("FARM_TEST_VARIANTS"))  # noqa: TID251 (tests have no settings)

FAULTS: tuple[Fault, ...] = tuple(
    sorted(
        (fault for module in _MODULES for fault in module.FAULTS if _WANTS_ALL or fault.name not in _VARIANTS),
        key=lambda fault: fault.id,
    )
)
