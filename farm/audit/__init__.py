"""Audits of what a store holds, from the store alone."""

from farm.audit.findings import Audit, Flaw
from farm.audit.rebuild import Remake
from farm.audit.verify import verify

__all__ = ["Audit", "Flaw", "Remake", "verify"]
