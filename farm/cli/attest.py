"""farm attest."""

from pathlib import Path

import click

from farm import bootstrap
from farm.cli.auditing import audited
from farm.cli.common import answer, json_option, place_of, store_option
from farm.cli.signing import sign
from farm.errors import IntegrityError
from farm.model import SweepId


@click.command(name="attest", epilog="Example:  farm attest quickstart-3f9a1c2b4d5e.1 --key ~/keys/sweeps.pem")
@click.argument("sweep", type=SweepId)
@click.option(
    "--key",
    "key_file",
    required=True,
    type=click.Path(path_type=Path),
    help="An Ed25519 private key in PEM that its owner alone can read: openssl genpkey -algorithm ed25519 -out KEY.",
)
@store_option
@json_option
def command(sweep: SweepId, *, key_file: Path, store: str | None, as_json: bool) -> None:
    """Sign a sealed sweep: an in-toto statement over its seal, in a DSSE envelope, beside it in the store.

    The sweep is verified first; one that is not sound is not signed, and ends with exit code 4.
    """
    place = bootstrap.open_store(store, bootstrap.read_settings())
    audit = audited(place, sweep)
    if not audit.is_sound:
        raise IntegrityError(f"{sweep}: {len(audit.flaws)} flaws, so it is not signed; farm verify {sweep} names them")
    key = sign(place, sweep, key_file)
    answer(
        {"sweep": sweep, "attestation": key},
        [f"{sweep}: attested; {place_of(place, key)}", f"Check it: farm verify {sweep} --key PUBLIC_KEY"],
        as_json=as_json,
    )
