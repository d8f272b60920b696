"""farm cancel."""

import click

from farm import bootstrap
from farm.cli.common import json_option, store_option
from farm.cli.drive import write_cancel
from farm.cli.finishing import conclude, finish
from farm.errors import SpecError
from farm.finalizer.finalize import Finalized, read_finalized
from farm.model import SweepId
from farm.model.keys import seal_key
from farm.ports import Clock, Store

_PATIENCE_S = 20.0
_LOOK_S = 0.2


def _await_seal(store: Store, sweep: SweepId, clock: Clock) -> Finalized | None:
    """Wait for a run with a private queue to stop and seal its sweep; None when no such run is alive, it seems."""
    click.echo(f"{sweep}: waiting for the run that may hold it to settle it", err=True)
    end = clock.monotonic() + _PATIENCE_S
    while clock.monotonic() < end:
        if store.records.read(seal_key(sweep)) is not None:
            return read_finalized(sweep, store.records)
        clock.sleep(_LOOK_S)
    return None


@click.command(name="cancel", epilog="Example:  farm cancel quickstart-3f9a1c2b4d5e.1 --reason 'wrong overlay'")
@click.argument("sweep", type=SweepId)
@click.option("--reason", default="cancelled by a person", show_default=True, help="Kept in the record.")
@store_option
@json_option
@click.pass_context
def command(ctx: click.Context, sweep: SweepId, *, reason: str, store: str | None, as_json: bool) -> None:
    """End a sweep for good: its running cells are stopped, it settles, and what is there is reported."""
    settings, clock = bootstrap.read_settings(), bootstrap.clock()
    place = bootstrap.open_store(store, settings)
    bootstrap.known_sweep(place, sweep)
    if place.records.read(seal_key(sweep)) is not None:
        raise SpecError(f"{sweep} is sealed, so there is nothing to cancel: farm report {sweep}")
    write_cancel(sweep, reason, place.records, clock.now())
    done = None if settings.redis_url else _await_seal(place, sweep, clock)
    if done is None:
        with bootstrap.own_or_embedded_exchange(settings) as exchange:
            done = finish(sweep, place, exchange)
    conclude(ctx, sweep, place, done, as_json=as_json)
