from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from typing_extensions import override

from farm.adapters.files import FileStore
from farm.adapters.memory import MemoryStore
from farm.audit import Audit
from farm.errors import SpecError
from farm.finalizer.judging import judge_again
from farm.gates.overlay import OverlayGate
from farm.gates.protocol import Gate
from farm.gates.table import Table
from farm.model import Digest, Plan, SweepId, parse_record
from farm.model.keys import attempts_prefix, outcome_key, plan_key, result_key, seal_key, verdict_key
from tests.builders.sealed import LOST, OPENED, UNFINISHED, a_sealed_sweep, audited, run_attempt


@pytest.fixture(scope="module")
def sealed() -> tuple[MemoryStore, SweepId]:
    store = MemoryStore()
    return store, a_sealed_sweep(store)


@pytest.fixture
def copy(sealed) -> tuple[MemoryStore, SweepId]:
    """Give a copy that a test may damage."""
    original, sweep = sealed
    store = MemoryStore()
    store.records.bodies.update(original.records.bodies)
    store.blobs.bodies.update(original.blobs.bodies)
    return store, sweep


def places(body: bytes) -> Iterator[int]:
    """Choose bytes over the whole of a file, both its ends among them."""
    yield from sorted({0, len(body) // 3, len(body) // 2, len(body) - 2, len(body) - 1} & set(range(len(body))))


def flipped(body: bytes, place: int) -> bytes:
    return body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]


def named(audit: Audit) -> set[str]:
    return {flaw.where for flaw in audit.flaws}


def test_a_sealed_sweep_is_sound(sealed) -> None:
    store, sweep = sealed

    audit = audited(store, sweep)

    assert (audit.flaws, audit.uncounted, audit.unchecked) == ((), (), ())
    assert (audit.records, audit.blobs) == (len(store.records.bodies), len(store.blobs.bodies))


def test_cells_that_left_the_same_change_are_told_and_flaw_nothing(sealed) -> None:
    store, sweep = sealed

    audit = audited(store, sweep)

    assert audit.is_sound
    (said,) = audit.suspicions
    assert said.startswith("Contamination? answer.overlay-off.1, answer.overlay-on.1 left equal counts (1 file, +60 ")


def test_a_flipped_byte_in_any_record_is_named_by_its_key(copy) -> None:
    store, sweep = copy
    for key, body in list(store.records.bodies.items()):
        for place in places(body):
            store.records.bodies[key] = flipped(body, place)
            audit = audited(store, sweep)
            assert key in named(audit), (key, place, audit.flaws)
        store.records.bodies[key] = body
    assert audited(store, sweep).is_sound


def test_a_flipped_byte_in_any_blob_is_named_by_its_key(copy) -> None:
    store, sweep = copy
    for digest, body in list(store.blobs.bodies.items()):
        store.blobs.bodies[digest] = flipped(body, len(body) // 2)
        assert named(audited(store, sweep)) == {f"blobs/sha256/{digest[:2]}/{digest}"}
        store.blobs.bodies[digest] = body


def test_a_missing_record_or_blob_is_named_by_its_key(copy) -> None:
    store, sweep = copy
    for key in [key for key in store.records.bodies if key != seal_key(sweep)]:
        body = store.records.bodies.pop(key)
        assert key in named(audited(store, sweep)), key
        store.records.bodies[key] = body
    for digest in list(store.blobs.bodies):
        body = store.blobs.bodies.pop(digest)
        assert named(audited(store, sweep)) == {f"blobs/sha256/{digest[:2]}/{digest}"}
        store.blobs.bodies[digest] = body


def test_every_digest_in_the_seal_is_guarded_and_the_seal_alone_is_blamed(copy) -> None:
    store, sweep = copy
    key = seal_key(sweep)
    body = store.records.bodies[key]
    text = body.decode()
    digests = [text.index('"digest":"', at) + 10 for at in range(len(text)) if text.startswith('"digest":"', at)]
    for place in digests:
        digit = "0" if text[place] != "0" else "1"
        store.records.bodies[key] = (text[:place] + digit + text[place + 1 :]).encode()
        assert named(audited(store, sweep)) == {key}


def test_a_flipped_digest_of_a_result_blames_the_settlement_and_not_the_result(copy) -> None:
    store, sweep = copy
    settlement = f"sweeps/{sweep}/settlement.json"
    text = store.records.bodies[settlement].decode()
    place = text.index('"result":"') + 10
    digit = "0" if text[place] != "0" else "1"
    store.records.bodies[settlement] = (text[:place] + digit + text[place + 1 :]).encode()

    assert named(audited(store, sweep)) == {settlement}


def test_all_flaws_are_found_and_not_only_the_first(copy) -> None:
    store, sweep = copy
    plan = parse_record(Plan, store.records.bodies[plan_key(sweep)], "plan")
    damaged = {
        result_key(sweep, plan.cells[0].id),
        outcome_key(sweep, plan.cells[1].id, 1),
        verdict_key(sweep, "overlay"),
    }
    for key in damaged:
        store.records.bodies[key] = flipped(store.records.bodies[key], 9)

    assert damaged <= named(audited(store, sweep))


@pytest.mark.parametrize("name", ["open", "close", "settlement", "cleanup"])
def test_a_record_of_another_sweep_is_named(copy, name: str) -> None:
    store, sweep = copy
    key = f"sweeps/{sweep}/{name}.json"
    store.records.bodies[key] = store.records.bodies[key].replace(
        sweep.encode(), sweep.replace("demo", "dema").encode()
    )

    assert key in named(audited(store, sweep))


def test_a_late_attempt_is_uncounted_and_no_flaw(copy) -> None:
    store, sweep = copy
    plan = parse_record(Plan, store.records.bodies[plan_key(sweep)], "plan")
    run_attempt(store, plan, UNFINISHED, 1, late=True, ended_at=OPENED + timedelta(hours=1))

    audit = audited(store, sweep)

    assert audit.is_sound
    folder = f"{attempts_prefix(sweep)}{UNFINISHED.id}/1/"
    assert audit.uncounted == tuple(f"{folder}{name}.json" for name in ("claim", "cleanup", "outcome"))


def test_a_result_that_landed_beside_the_settlement_of_an_unsettled_cell_is_uncounted_and_no_flaw(copy) -> None:
    store, sweep = copy
    plan = parse_record(Plan, store.records.bodies[plan_key(sweep)], "plan")
    run_attempt(store, plan, UNFINISHED, 1)

    audit = audited(store, sweep)

    assert audit.is_sound
    assert result_key(sweep, UNFINISHED.id) in audit.uncounted


def test_a_result_of_a_cell_that_was_never_planned_is_a_flaw(copy) -> None:
    store, sweep = copy
    plan = parse_record(Plan, store.records.bodies[plan_key(sweep)], "plan")
    known = store.records.bodies[result_key(sweep, plan.cells[0].id)]
    stranger = result_key(sweep, plan.cells[0].id).replace(plan.cells[0].id, "nobody.a.1")
    store.records.create(stranger, known)

    assert named(audited(store, sweep)) == {stranger}


def test_another_result_of_a_settled_cell_is_a_flaw(copy) -> None:
    store, sweep = copy
    plan = parse_record(Plan, store.records.bodies[plan_key(sweep)], "plan")
    one, other = (result_key(sweep, plan.cells[place].id) for place in (0, 1))
    store.records.bodies[one] = store.records.bodies[other]

    assert one in named(audited(store, sweep))


def test_a_verdict_written_anew_with_its_seal_is_found(copy) -> None:
    store, sweep = copy
    key, seal = verdict_key(sweep, "overlay"), seal_key(sweep)
    forged = store.records.bodies[key].replace(b'"decision":"fail"', b'"decision":"pass"')
    assert forged != store.records.bodies[key]
    old, new = Digest.of(store.records.bodies[key]), Digest.of(forged)
    store.records.bodies[key] = forged
    store.records.bodies[seal] = store.records.bodies[seal].replace(old.encode(), new.encode())

    assert key in named(audited(store, sweep))


@pytest.mark.parametrize("name", ["open", "seal"])
def test_a_reformatted_record_is_not_canonical(copy, name: str) -> None:
    store, sweep = copy
    key = f"sweeps/{sweep}/{name}.json"
    store.records.bodies[key] = store.records.bodies[key].replace(b":", b": ", 1)

    assert named(audited(store, sweep)) == {key}


def test_a_gate_of_another_version_leaves_the_verdict_unjudged_and_says_so(sealed) -> None:
    store, sweep = sealed

    class NextGate(OverlayGate):
        version = "5"

    def gates(name: str) -> Gate:
        assert name == "overlay"
        return NextGate()

    audit = audited(store, sweep, gates)

    assert audit.is_sound
    assert [(left.where, "pins 4" in left.problem) for left in audit.unchecked] == [
        (verdict_key(sweep, "overlay"), True)
    ]


def test_a_gate_sees_the_same_table_as_when_the_sweep_was_finalized(sealed) -> None:
    store, sweep = sealed
    tables: list[Table] = []

    class Seeing(OverlayGate):
        @override
        def judge(self, table, policy):
            tables.append(table)
            return super().judge(table, policy)

    judge_again(sweep, lambda _: Seeing(), store.records)
    audited(store, sweep, lambda _: Seeing())

    assert tables[0] == tables[1]
    assert [row.spent.known_usd for row in tables[0].rows] == [Decimal("0.25")] * 3 + [Decimal(0)]
    assert [row.spent.usd is None for row in tables[0].rows] == [row.cell == LOST.id for row in tables[0].rows]


def test_a_gate_that_is_not_installed_is_said(sealed) -> None:
    store, sweep = sealed

    def gates(name: str) -> Gate:
        raise SpecError(f"there is no gate {name!r}")

    assert [left.where for left in audited(store, sweep, gates).unchecked] == [verdict_key(sweep, "overlay")]


def test_an_unsealed_sweep_is_refused(copy) -> None:
    store, sweep = copy
    del store.records.bodies[seal_key(sweep)]

    with pytest.raises(SpecError, match="farm finalize"):
        audited(store, sweep)


def test_a_store_in_a_folder_is_verified_alike(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "store")
    sweep = a_sealed_sweep(store)

    assert audited(store, sweep).is_sound

    report = tmp_path / "store" / "sweeps" / sweep / "report" / "report.html"
    report.chmod(0o644)
    report.write_bytes(flipped(report.read_bytes(), 500))
    assert named(audited(store, sweep)) == {f"sweeps/{sweep}/report/report.html"}


def test_a_report_drawn_elsewhere_is_left_to_its_digest(copy) -> None:
    store, sweep = copy
    key, seal = f"sweeps/{sweep}/report/report.html", seal_key(sweep)
    elsewhere = store.records.bodies[key].replace(b", matplotlib ", b", matplotlib 0", 1)
    old, new = Digest.of(store.records.bodies[key]), Digest.of(elsewhere)
    store.records.bodies[key] = elsewhere
    store.records.bodies[seal] = store.records.bodies[seal].replace(old.encode(), new.encode())

    audit = audited(store, sweep)

    assert (audit.flaws, [left.where for left in audit.unchecked]) == ((), [key])
