"""What a sealed sweep's report warns of, as it was written."""

from pydantic import BaseModel, ConfigDict

from farm.model import SweepId, parse_record
from farm.model.keys import REPORT_DATA, report_key
from farm.ports import Records


class _Provenance(BaseModel):
    model_config = ConfigDict(extra="ignore")

    warnings: tuple[str, ...] = ()


class _Warned(BaseModel):
    """The one part of a report that is read: another version of the farm may have written the rest."""

    model_config = ConfigDict(extra="ignore")

    provenance: _Provenance


def report_warnings(records: Records, sweep: SweepId) -> tuple[str, ...]:
    """Read the warnings of a sealed sweep's report; none where it has no report."""
    key = report_key(sweep, REPORT_DATA)
    body = records.read(key)
    return () if body is None else parse_record(_Warned, body, key).provenance.warnings
