"""What is attested: an in-toto statement whose subject is the seal, and so every byte below it."""

from typing import Literal

from pydantic import Field

from farm.errors import IntegrityError
from farm.model import Digest, Plan, Seal, SweepId, Verdict, canonical_json, parse_record
from farm.model.base import Value
from farm.model.keys import plan_key, seal_key, sweep_root
from farm.ports import Store, read_required

PREDICATE: Literal["urn:cellfarm:sweep:1"] = "urn:cellfarm:sweep:1"


class Subject(Value):
    """One thing that is attested, by its digest."""

    name: str
    digest: dict[Literal["sha256"], Digest]


class Decided(Value):
    """What one gate decided."""

    gate: str
    version: str
    decision: str
    verdict: Digest


class Predicate(Value):
    """What is said of a sweep, for a reader who has no store at hand."""

    sweep: SweepId
    farm_version: str
    verdicts: tuple[Decided, ...]


class Statement(Value):
    """The statement; its field names are in-toto's, version 1."""

    type_: Literal["https://in-toto.io/Statement/v1"] = Field("https://in-toto.io/Statement/v1", alias="_type")
    subject: tuple[Subject]
    predicate_type: Literal["urn:cellfarm:sweep:1"] = Field(PREDICATE, alias="predicateType")
    predicate: Predicate


def statement_of(store: Store, sweep: SweepId) -> bytes:
    """Write the statement of a sealed sweep from the store's records: the same sweep, the same bytes.

    Raises SpecError when there is no seal, IntegrityError when a record is none.
    """
    body = read_required(store.records, seal_key(sweep))
    seal = parse_record(Seal, body, seal_key(sweep))
    plan = parse_record(Plan, read_required(store.records, plan_key(sweep)), plan_key(sweep))
    verdicts = (sealed for sealed in seal.records if sealed.key.startswith("verdicts/"))
    statement = Statement(
        subject=(Subject(name=seal_key(sweep), digest={"sha256": Digest.of(body)}),),
        predicate=Predicate(
            sweep=sweep,
            farm_version=plan.farm_version,
            verdicts=tuple(_decided(store, sweep_root(sweep) + one.key, one.digest) for one in verdicts),
        ),
    )
    return canonical_json(statement.model_dump(mode="json", by_alias=True))


def _decided(store: Store, key: str, digest: Digest) -> Decided:
    body = read_required(store.records, key)
    if Digest.of(body) != digest:
        raise IntegrityError(f"{key} is not the verdict that was sealed; see farm verify")
    verdict = parse_record(Verdict, body, key)
    return Decided(
        gate=verdict.gate.name, version=verdict.gate.version, decision=verdict.decision.value, verdict=digest
    )
