"""Signing a seal, and asking whether a key signed it."""

from pathlib import Path

from farm.attestation.envelope import enclose, open_envelope, signed_bytes
from farm.attestation.key_files import is_signed, key_id, read_private, read_public
from farm.attestation.statement import statement_of
from farm.errors import ConflictError, IntegrityError
from farm.model import SweepId
from farm.model.keys import attestation_key
from farm.ports import Store


def attest(store: Store, sweep: SweepId, key_file: Path) -> str:
    """Sign the sweep's statement and store the envelope; return its key in the store.

    Done twice it is the same: the statement and Ed25519 have no chance in them. Raises SpecError for a key file that
    is none or a sweep without a seal, ConflictError when something else stands where the envelope belongs.
    """
    signer = read_private(key_file)
    payload = statement_of(store, sweep)
    keyid = key_id(signer.public_key())
    body = enclose(payload, keyid, signer.sign(signed_bytes(payload)))
    key = attestation_key(sweep, keyid)
    if not store.records.create(key, body) and store.records.read(key) != body:
        raise ConflictError(f"{key} stands already, and is another attestation by the same key; see farm verify --key")
    return key


def attestation_problems(store: Store, sweep: SweepId, public_key_file: Path) -> list[str]:
    """Say why the sweep's seal, as it stands, is not attested by the key; [] when it is."""
    signer = read_public(public_key_file)
    keyid = key_id(signer)
    key = attestation_key(sweep, keyid)
    body = store.records.read(key)
    if body is None:
        return [f"{key}: no attestation by the key of {public_key_file}"]
    try:
        opened = open_envelope(body, key)
        stated = statement_of(store, sweep)
    except IntegrityError as error:
        return [str(error)]
    signature = opened.signatures.get(keyid)
    if signature is None or not is_signed(signer, signature, signed_bytes(opened.payload)):
        return [f"{key}: its signature is not by the key of {public_key_file}"]
    if opened.payload != stated:
        return [f"{key}: what was signed is not this sweep as it is sealed"]
    return []
