"""How an error becomes a record."""

from botocore.exceptions import ClientError

from farm.adapters.s3.failures import refusal
from farm.errors import SpecError
from farm.model import FaultKind
from farm.redaction import Redactor
from worker.cell.faults import fault_of

TOKEN = "sk-ant-api03-" + "a1B2" * 10


def test_a_long_message_is_cut_without_leaving_a_part_of_a_secret() -> None:
    for before in range(1900, 2010):
        detail = fault_of(SpecError(f"{'x' * before} {TOKEN} more")).detail or ""
        assert detail == detail[:2000]
        assert "a1B2" not in Redactor().text(detail)


def test_a_store_that_refuses_this_host_is_the_hosts_fault_and_what_a_task_asks_for_is_the_tasks() -> None:
    denied = ClientError({"Error": {"Code": "ExpiredToken"}}, "GetObject")
    assert fault_of(refusal(denied, "s3://b/x")).kind is FaultKind.HOST
    assert fault_of(SpecError("no such option")).kind is FaultKind.TASK
