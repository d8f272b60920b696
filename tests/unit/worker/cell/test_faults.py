"""How an error becomes a record."""

from farm.errors import SpecError
from farm.redaction import Redactor
from worker.cell.faults import fault_of

TOKEN = "sk-ant-api03-" + "a1B2" * 10


def test_a_long_message_is_cut_without_leaving_a_part_of_a_secret() -> None:
    for before in range(1900, 2010):
        detail = fault_of(SpecError(f"{'x' * before} {TOKEN} more")).detail or ""
        assert detail == detail[:2000]
        assert "a1B2" not in Redactor().text(detail)
