"""The fault matrix's report."""

import json

from farm.gates.mechanism import MechanismGate
from farm.gates.protocol import Basis
from farm.gates.table import Row
from farm.model import OracleFinding, Pin, SweepId
from farm.reporting.mechanism import MatrixReport, differences, matrix_report, outcome
from tests.builders.fault_matrix import Change, a_policy, a_table, unchanged
from tests.builders.gates import a_digest, a_session


def a_report(change: Change = unchanged, sweep: str = "faults-1.1") -> MatrixReport:
    judgement = MechanismGate().judge(a_table(change), a_policy())
    basis = Basis(sweep=SweepId(sweep), settlement=a_digest(sweep), cleanup=a_digest("c"))
    return matrix_report(basis.verdict(Pin(name="mechanism", version="1"), judgement))


def slower(row: Row) -> Row:
    return row.model_copy(update={"duration_s": 99.0})


def one_reply_less(row: Row) -> Row:
    is_it = row.cell == "stale-file-removal.governed.3"
    return row.model_copy(update={"sessions": (a_session(turns=3),)}) if is_it else row


def test_it_says_what_each_fault_comes_to_without_a_governor_and_with_one() -> None:
    fault = a_report().faults["stale-file-removal"]
    assert outcome(fault.baseline) == "false completion 10 of 10"
    assert outcome(fault.governed).startswith("certified 10 of 10")


def certified_wrongly(row: Row) -> Row:
    is_it = row.cell == "stale-file-removal.governed.3"
    return row.model_copy(update={"oracle": OracleFinding(correct=False)}) if is_it else row


def test_it_says_how_many_were_certified_falsely() -> None:
    assert outcome(a_report(certified_wrongly).faults["stale-file-removal"].governed).endswith(", 1 falsely")


def test_it_has_a_row_for_each_fault_and_for_each_gate() -> None:
    rows = [line.split("|")[1].strip() for line in a_report().markdown.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + 9 + 1 + 6
    assert rows[-6:] == [
        "runs-measured",
        "trials",
        "false-completion",
        "false-certification",
        "reduction",
        "as-expected",
    ]


def test_neither_times_nor_the_sweeps_own_name_stand_in_it() -> None:
    assert a_report(slower, "faults-2.7").json_text == a_report().json_text
    assert a_report(slower, "faults-2.7").markdown == a_report().markdown


def test_a_run_that_is_not_as_expected_is_named_in_both_forms() -> None:
    report = a_report(one_reply_less)
    why = "3 of its script's 4 replies were asked for"
    assert why in json.loads(report.json_text)["unexpected"]["stale-file-removal.governed.3"]
    assert f"`stale-file-removal.governed.3`: {why}" in report.markdown


def test_what_differs_from_the_report_that_is_checked_in_is_told_by_lines() -> None:
    lines = differences(a_report(one_reply_less))
    assert any(line.startswith("+") and "stale-file-removal.governed.3" in line for line in lines)
