"""farm doctor."""

import json
import subprocess
import sys
from dataclasses import asdict, dataclass

import click

from farm import bootstrap
from farm.bootstrap import Settings
from farm.cli.common import answer, json_option, store_option
from farm.errors import FarmError, SpecError

_PREFLIGHT_LIMIT_S = 60


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str
    fix: str = ""


def _store(url: str | None, settings: Settings) -> Finding:
    try:
        place = bootstrap.open_store(url, settings)
        place.check()
    except FarmError as error:
        return Finding("store", ok=False, detail=str(error), fix="set FARM_STORE and FARM_S3_*")
    return Finding("store", ok=True, detail=f"{place.url} creates records exclusively")


def _queue(settings: Settings) -> Finding:
    try:
        with bootstrap.own_or_embedded_exchange(settings) as exchange:
            place = exchange.shown_url if settings.redis_url else "none named; a private server starts for a run"
            return Finding("queue", ok=True, detail=place)
    except FarmError as error:
        return Finding("queue", ok=False, detail=str(error), fix="set FARM_REDIS_URL, or install redis-server")


def _broker(settings: Settings) -> list[Finding]:
    try:
        place = bootstrap.ping_broker(settings)
    except FarmError as error:
        return [Finding("broker", ok=False, detail=str(error), fix="set FARM_BROKER_URL, or unset it to use the Redis")]
    return [] if place is None else [Finding("broker", ok=True, detail=f"{place} carries tickets")]


def _worker(url: str | None, settings: Settings) -> list[Finding]:
    argv = bootstrap.worker_command("--check", "--json")
    env = dict(bootstrap.worker_environment(settings, settings.redis_url or "", url or settings.store_url))
    try:
        ran = subprocess.run(argv, capture_output=True, env=env, timeout=_PREFLIGHT_LIMIT_S, check=False)  # noqa: S603 (our own module)
        return [Finding(**row) for row in json.loads(ran.stdout)]
    except (subprocess.TimeoutExpired, ValueError, TypeError) as error:
        return [Finding("sandbox", ok=False, detail=f"the preflight gave no answer: {error}", fix=" ".join(argv))]


@click.command(name="doctor", epilog="Example:  farm doctor --store s3://farm/sweeps")
@store_option
@json_option
def command(store: str | None, *, as_json: bool) -> None:
    """Check that this machine and its services can run sweeps; exit 2 when something must be fixed."""
    settings = bootstrap.read_settings()
    python = Finding("python", ok=True, detail=sys.version.split()[0])
    findings = [python, _queue(settings), *_broker(settings), _store(store, settings), *_worker(store, settings)]
    broken = [finding for finding in findings if not finding.ok]
    width = max(len(row.name) for row in findings)
    lines = [f"{'ok  ' if row.ok else 'FAIL'}  {row.name:<{width}}  {row.detail}" for row in findings]
    lines += [f"fix   {row.name:<{width}}  {row.fix}" for row in broken if row.fix]
    answer({"ok": not broken, "findings": [asdict(row) for row in findings]}, lines, as_json=as_json)
    if broken:
        raise SpecError(f"{len(broken)} of {len(findings)} checks failed: {', '.join(row.name for row in broken)}")
