"""Locks of plans for tests."""

from datetime import UTC, datetime

from farm.model import Code, LockSubject, Plan, SweepLock, fixed_by
from tests.builders.gates import a_digest

LOCKED_AT = datetime(2026, 3, 4, 8, 0, tzinfo=UTC)


def a_subject(plan: Plan) -> LockSubject:
    code = Code(runner=a_digest("runner"), analysis=a_digest("analysis"), presets=a_digest("presets"))
    return LockSubject(
        spec=a_digest("spec"), farm_version="1", code=code, libraries={"numpy": "2.0"}, plan=fixed_by(plan)
    )


def a_lock(plan: Plan, name: str = "first-protocol") -> SweepLock:
    return SweepLock(id=name, statement="Candidates solve more.", locked_at=LOCKED_AT, subject=a_subject(plan))
