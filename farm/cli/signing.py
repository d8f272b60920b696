"""The signing of seals, as far as it is installed."""

from types import ModuleType

from farm.errors import SpecError


def signing() -> ModuleType:
    """Give `farm.attestation`; raise SpecError when what it needs is not installed."""
    try:
        from farm import attestation  # noqa: PLC0415 (an extra: most hosts sign nothing)
    except ImportError as error:
        raise SpecError(f"attestations need the extra: pip install 'cellfarm[attest]' ({error})") from error
    return attestation
