"""farm verify."""

from collections.abc import Sequence
from pathlib import Path

import click
from pydantic import JsonValue

from farm import bootstrap
from farm.audit import Audit
from farm.cli.auditing import audited
from farm.cli.common import answer, json_option, store_option
from farm.cli.signing import unsigned
from farm.errors import IntegrityError
from farm.model import SweepId


def _lines(audit: Audit, unsigned: Sequence[str]) -> list[str]:
    lines = [f"FLAW  {flaw.where}: {flaw.problem}" for flaw in audit.flaws]
    lines += [f"FLAW  {problem}" for problem in unsigned]
    lines += [f"note  {left.where}: not computed again: {left.problem}" for left in audit.unchecked]
    lines += [f"note  {key}: not sealed and not counted" for key in audit.uncounted]
    lines += [f"note  {suspicion}" for suspicion in audit.suspicions]
    if audit.is_sound:
        lines.append(f"{audit.sweep}: sound; {audit.records} records and {audit.blobs} blobs are what was sealed")
    return lines


def _document(audit: Audit, unsigned: Sequence[str]) -> dict[str, JsonValue]:
    return {
        "sweep": audit.sweep,
        "sound": audit.is_sound,
        "flaws": [{"where": flaw.where, "problem": flaw.problem} for flaw in audit.flaws],
        "unsigned": list(unsigned),
        "unchecked": [{"where": left.where, "why": left.problem} for left in audit.unchecked],
        "uncounted": list(audit.uncounted),
        "suspicions": list(audit.suspicions),
        "records": audit.records,
        "blobs": audit.blobs,
    }


@click.command(name="verify", epilog="Example:  farm verify quickstart-3f9a1c2b4d5e.1 --store /mnt/copy-of-store")
@click.argument("sweep", type=SweepId)
@click.option(
    "--key",
    "key_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="An Ed25519 public key in PEM: the seal must be attested by it (farm attest). May be repeated: by each.",
)
@store_option
@json_option
def command(sweep: SweepId, *, key_files: tuple[Path, ...], store: str | None, as_json: bool) -> None:
    """Re-walk a sealed sweep's digest chain and compute its verdict and reports again, from the store alone.

    Names every byte that is not what was sealed, and then ends with exit code 4.
    """
    place = bootstrap.open_store(store, bootstrap.read_settings())
    audit = audited(place, sweep)
    lacking = [one for key_file in key_files for one in unsigned(place, sweep, key_file)]
    answer(_document(audit, lacking), _lines(audit, lacking), as_json=as_json)
    if not audit.is_sound:
        raise IntegrityError(f"{sweep}: {len(audit.flaws)} flaws; the store's bytes are not what was sealed")
    if lacking:
        raise IntegrityError(f"{sweep}: sound, but not attested as asked for; {lacking[0]}")
