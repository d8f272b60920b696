"""Ed25519 key files, as openssl writes them."""

from pathlib import Path
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat


class KeyFiles(NamedTuple):
    """Both halves."""

    private: Path
    public: Path


def key_files(folder: Path, name: str = "key") -> KeyFiles:
    """Make a new pair."""
    key = Ed25519PrivateKey.generate()
    files = KeyFiles(folder / f"{name}.pem", folder / f"{name}.pub")
    files.private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    files.private.chmod(0o600)
    files.public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return files
