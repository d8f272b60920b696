"""The signing of seals, as far as it is installed."""

from pathlib import Path

from farm.errors import SpecError
from farm.model import SweepId
from farm.ports import Store

_MISSING = "attestations need an extra that is not installed: pip install 'cellfarm[attest]'"


def sign(store: Store, sweep: SweepId, key_file: Path) -> str:
    """Attest the sweep as `farm.attestation.attest` does; raise SpecError also when that is not installed."""
    try:
        from farm.attestation import attest  # noqa: PLC0415 (an extra: most hosts sign nothing)
    except ImportError as error:
        raise SpecError(f"{_MISSING} ({error})") from error
    return attest(store, sweep, key_file)


def unsigned(store: Store, sweep: SweepId, public_key_file: Path) -> list[str]:
    """Say why the seal is not attested by the key; errors as `sign`."""
    try:
        from farm.attestation import attestation_problems  # noqa: PLC0415 (as above)
    except ImportError as error:
        raise SpecError(f"{_MISSING} ({error})") from error
    return attestation_problems(store, sweep, public_key_file)
