"""DSSE envelopes: bytes, what they are, and who signed them.

Source: the Dead Simple Signing Envelope, protocol version 1. What is signed is not the payload but an encoding of its
type and itself with their lengths, so that a signature is good for one type alone.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Literal

from pydantic import Field, ValidationError

from farm.errors import IntegrityError
from farm.model.base import Value

PAYLOAD_TYPE: Literal["application/vnd.in-toto+json"] = "application/vnd.in-toto+json"


class Signature(Value):
    """One signature, and which key it is by."""

    keyid: str
    sig: str
    """Base64."""


class Envelope(Value):
    """An envelope as it is stored; its field names are the protocol's."""

    payload_type: Literal["application/vnd.in-toto+json"] = Field(alias="payloadType")
    payload: str
    """Base64."""
    signatures: tuple[Signature, ...]


@dataclass(frozen=True, slots=True)
class Opened:
    """An envelope's content; nothing of it is checked."""

    payload: bytes
    signatures: dict[str, bytes]
    """By key id."""


def signed_bytes(payload: bytes) -> bytes:
    """Give the bytes that a signature is over: the protocol's pre-authentication encoding."""
    kind = PAYLOAD_TYPE.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def enclose(payload: bytes, keyid: str, signature: bytes) -> bytes:
    """Write an envelope of one signature."""
    envelope = Envelope(
        payloadType=PAYLOAD_TYPE,
        payload=_text(payload),
        signatures=(Signature(keyid=keyid, sig=_text(signature)),),
    )
    return json.dumps(envelope.model_dump(by_alias=True), sort_keys=True, separators=(",", ":")).encode() + b"\n"


def open_envelope(body: bytes, where: str) -> Opened:
    """Take an envelope apart; raise IntegrityError naming `where` when it is none."""
    try:
        envelope = Envelope.model_validate_json(body)
        signatures = {one.keyid: _bytes(one.sig) for one in envelope.signatures}
        return Opened(_bytes(envelope.payload), signatures)
    except (ValidationError, binascii.Error) as error:
        raise IntegrityError(f"{where} is not a DSSE envelope of an in-toto statement: {error}") from error


def _text(body: bytes) -> str:
    return base64.b64encode(body).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)
