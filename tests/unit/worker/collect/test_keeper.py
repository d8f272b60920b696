"""What is kept of an attempt until it is uploaded."""

from farm.model import Digest
from farm.redaction import MARK, Redactor
from worker.collect.keeper import Keeper

TOKEN = "a1B2" * 10


def test_what_holds_no_secret_stays_as_it_is() -> None:
    keeper = Keeper()
    keeper.keep("out/x.json", "application/json", b"{}")
    assert keeper.redacted(Redactor()).kept == keeper.kept


def test_roles_that_are_the_same_without_their_secrets_are_numbered() -> None:
    keeper = Keeper()
    for number, role in enumerate((f"out/sk-ant-{TOKEN}", f"out/{MARK}-2", f"out/sk-other-{TOKEN}")):
        keeper.keep(role, "text/plain", str(number).encode())
    found = {kept.artifact.role: (kept.body, kept.artifact.redacted) for kept in keeper.redacted(Redactor()).kept}
    assert found == {f"out/{MARK}": (b"0", True), f"out/{MARK}-2": (b"1", False), f"out/{MARK}-3": (b"2", True)}


def test_a_redacted_body_has_a_digest_of_its_own() -> None:
    keeper = Keeper()
    keeper.keep("log", "text/plain", f"sk-ant-{TOKEN}".encode())
    (kept,) = keeper.redacted(Redactor()).kept
    assert (kept.body, kept.artifact.redacted) == (MARK.encode(), True)
    assert (kept.artifact.digest, kept.artifact.size_bytes) == (Digest.of(kept.body), len(kept.body))
