"""Ed25519 keys in PEM files, as `openssl genpkey -algorithm ed25519` writes them."""

from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from farm.errors import SpecError
from farm.model import Digest

_OTHERS = 0o077
_MOST = 16 * 1024


def read_private(path: Path) -> Ed25519PrivateKey:
    """Read a private key that its owner alone can read; SpecError for any other file."""
    body = _read(path)
    if path.stat().st_mode & _OTHERS:
        raise SpecError(f"the key file {path} can be read or changed by others than its owner: chmod 600 it first")
    try:
        key = load_pem_private_key(body, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise _no_key(path, "private key without a pass phrase") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _no_key(path, "private key")
    return key


def read_public(path: Path) -> Ed25519PublicKey:
    """Read a public key; SpecError for any other file."""
    try:
        key = load_pem_public_key(_read(path))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise _no_key(path, "public key (openssl pkey -in KEY -pubout)") from error
    if not isinstance(key, Ed25519PublicKey):
        raise _no_key(path, "public key")
    return key


def key_id(key: Ed25519PublicKey) -> str:
    """Name a key: the SHA-256 of its DER form."""
    return Digest.of(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo))


def is_signed(key: Ed25519PublicKey, signature: bytes, body: bytes) -> bool:
    """Say whether the key signed the body."""
    try:
        key.verify(signature, body)
    except InvalidSignature:
        return False
    return True


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST)
    except OSError as error:
        raise SpecError(f"the key file {path} can't be read: {error.strerror}") from error


def _no_key(path: Path, what: str) -> SpecError:
    return SpecError(f"{path} holds no Ed25519 {what} in PEM; make one: openssl genpkey -algorithm ed25519 -out KEY")
