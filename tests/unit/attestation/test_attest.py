import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from farm.adapters.memory import MemoryStore
from farm.attestation import attest, attestation_problems
from farm.errors import ConflictError, SpecError
from farm.model import Digest, SweepId
from farm.model.keys import seal_key, verdict_key
from tests.builders.sealed import a_sealed_sweep, audited
from tests.builders.signing_keys import KeyFiles, key_files


@pytest.fixture(scope="module")
def sealed() -> tuple[MemoryStore, SweepId]:
    store = MemoryStore()
    return store, a_sealed_sweep(store)


@pytest.fixture
def copy(sealed) -> tuple[MemoryStore, SweepId]:
    original, sweep = sealed
    store = MemoryStore()
    store.records.bodies.update(original.records.bodies)
    store.blobs.bodies.update(original.blobs.bodies)
    return store, sweep


@pytest.fixture
def keys(tmp_path: Path) -> KeyFiles:
    return key_files(tmp_path)


def envelope(store: MemoryStore, key: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(store.records.bodies[key])
    return found


def test_a_seal_is_attested_by_the_key_that_signed_it(copy, keys: KeyFiles) -> None:
    store, sweep = copy

    attest(store, sweep, keys.private)

    assert attestation_problems(store, sweep, keys.public) == []


def test_the_statement_is_in_totos_and_names_the_seal_and_each_verdict(copy, keys: KeyFiles) -> None:
    store, sweep = copy

    enclosed = envelope(store, attest(store, sweep, keys.private))

    assert enclosed["payloadType"] == "application/vnd.in-toto+json"
    statement = json.loads(base64.b64decode(enclosed["payload"]))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    (subject,) = statement["subject"]
    assert subject["digest"] == {"sha256": Digest.of(store.records.bodies[seal_key(sweep)])}
    (decided,) = statement["predicate"]["verdicts"]
    assert decided["verdict"] == Digest.of(store.records.bodies[verdict_key(sweep, "overlay")])


def test_openssl_finds_the_signature_good(copy, keys: KeyFiles, tmp_path: Path) -> None:
    store, sweep = copy
    enclosed = json.loads(store.records.bodies[attest(store, sweep, keys.private)])
    payload, kind = base64.b64decode(enclosed["payload"]), enclosed["payloadType"]
    (tmp_path / "body").write_bytes(f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload)
    (tmp_path / "sig").write_bytes(base64.b64decode(enclosed["signatures"][0]["sig"]))
    openssl = shutil.which("openssl")
    assert openssl is not None

    files = ("-inkey", keys.public, "-in", tmp_path / "body", "-sigfile", tmp_path / "sig")
    checked = subprocess.run(
        (openssl, "pkeyutl", "-verify", "-pubin", "-rawin", *files), capture_output=True, check=False
    )

    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_an_attestation_leaves_the_sweep_as_sound_as_it_was(copy, keys: KeyFiles) -> None:
    store, sweep = copy

    attest(store, sweep, keys.private)

    audit = audited(store, sweep)
    assert (audit.flaws, audit.uncounted) == ((), ())


def test_signing_twice_is_signing_once(copy, keys: KeyFiles) -> None:
    store, sweep = copy
    before = attest(store, sweep, keys.private)
    held = dict(store.records.bodies)

    assert attest(store, sweep, keys.private) == before
    assert store.records.bodies == held


def test_two_people_may_each_sign(copy, tmp_path: Path) -> None:
    store, sweep = copy
    one, other = key_files(tmp_path, "one"), key_files(tmp_path, "other")

    attest(store, sweep, one.private)
    attest(store, sweep, other.private)

    assert attestation_problems(store, sweep, one.public) + attestation_problems(store, sweep, other.public) == []


def test_a_chain_that_was_written_anew_is_not_attested(copy, keys: KeyFiles) -> None:
    store, sweep = copy
    attest(store, sweep, keys.private)
    body = store.records.bodies[seal_key(sweep)]
    store.records.bodies[seal_key(sweep)] = body.replace(b'"schema_version":1', b'"schema_version": 1')

    (problem,) = attestation_problems(store, sweep, keys.public)

    assert problem.endswith("what was signed is not this sweep as it is sealed")


def test_a_verdict_that_was_changed_is_named(copy, keys: KeyFiles) -> None:
    store, sweep = copy
    attest(store, sweep, keys.private)
    key = verdict_key(sweep, "overlay")
    store.records.bodies[key] = store.records.bodies[key].replace(b'"summary":"', b'"summary":"!')

    (problem,) = attestation_problems(store, sweep, keys.public)

    assert problem.startswith(f"{key} is not the verdict that was sealed")


def test_another_key_attests_nothing(copy, keys: KeyFiles, tmp_path: Path) -> None:
    store, sweep = copy
    attest(store, sweep, keys.private)

    (problem,) = attestation_problems(store, sweep, key_files(tmp_path, "other").public)

    assert "no attestation by the key" in problem


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("payload", base64.b64encode(b"{}").decode(), "its signature is not by the key"),
        ("payload", "%", "is not a DSSE envelope"),
        ("payloadType", "text/plain", "is not a DSSE envelope"),
        ("signatures", [], "its signature is not by the key"),
        ("more", 1, "is not a DSSE envelope"),
    ],
)
def test_an_envelope_that_was_tampered_with_is_refused(
    copy, keys: KeyFiles, field: str, value: object, told: str
) -> None:
    store, sweep = copy
    key = attest(store, sweep, keys.private)
    store.records.bodies[key] = json.dumps(envelope(store, key) | {field: value}).encode()

    (problem,) = attestation_problems(store, sweep, keys.public)

    assert told in problem


def test_one_flipped_bit_of_a_signature_is_enough(copy, keys: KeyFiles) -> None:
    store, sweep = copy
    key = attest(store, sweep, keys.private)
    enclosed = json.loads(store.records.bodies[key])
    signature = bytearray(base64.b64decode(enclosed["signatures"][0]["sig"]))
    signature[0] ^= 1
    enclosed["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    store.records.bodies[key] = json.dumps(enclosed).encode()

    (problem,) = attestation_problems(store, sweep, keys.public)

    assert "its signature is not by the key" in problem


def test_what_stands_in_its_place_is_not_overwritten(copy, keys: KeyFiles) -> None:
    store, sweep = copy
    key = attest(store, sweep, keys.private)
    store.records.bodies[key] = b"something else"

    with pytest.raises(ConflictError, match="stands already"):
        attest(store, sweep, keys.private)


def test_an_open_sweep_has_nothing_to_sign(keys: KeyFiles) -> None:
    with pytest.raises(SpecError):
        attest(MemoryStore(), SweepId("quickstart-3f9a1c2b4d5e.1"), keys.private)


def test_a_private_key_that_others_can_read_is_not_used(copy, keys: KeyFiles) -> None:
    store, sweep = copy
    keys.private.chmod(0o640)

    with pytest.raises(SpecError, match="chmod 600"):
        attest(store, sweep, keys.private)


def test_a_file_that_holds_no_key_of_the_kind_is_named(copy, keys: KeyFiles, tmp_path: Path) -> None:
    store, sweep = copy
    rubbish = tmp_path / "rubbish"
    rubbish.write_text("no key")
    rubbish.chmod(0o600)
    for bad in (rubbish, keys.public.rename(tmp_path / "public")):
        bad.chmod(0o600)
        with pytest.raises(SpecError, match="holds no Ed25519 private key"):
            attest(store, sweep, bad)
    with pytest.raises(SpecError, match="holds no Ed25519 public key"):
        attestation_problems(store, sweep, keys.private)
    with pytest.raises(SpecError, match="can't be read"):
        attestation_problems(store, sweep, tmp_path / "absent")
