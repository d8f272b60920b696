"""The worker's composition root: here, and nowhere else in `worker`, adapters are named and settings are read."""

import functools
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from farm import telemetry
from farm.adapters import celery, memory, redis, system_clock
from farm.errors import SpecError, TransientError
from farm.model import ANY_IMAGE, Host, PluginGroup, image_need, label_need, program_need, provider_need, sandbox_need
from farm.model import offers as host_offers
from farm.plugins import Plugins
from farm.ports import Store
from farm.redaction import Redactor
from farm.settings import read
from farm.version import __version__
from sandbox.errors import SandboxError
from sandbox.spec import Probe, Sandbox
from worker.agents.installed import InstalledPrograms
from worker.cell.janitor import Janitor
from worker.cell.line import CellLine
from worker.cell.ports import DoorPorts, Exchange, LinePorts, Place, Timing, Truth
from worker.gateway import Gateway, Upstream
from worker.health.drain import Drain
from worker.health.duty import Duty, FarmWords, OwnState
from worker.health.fitness import Fitness
from worker.health.floor import Keeper
from worker.health.git_probe import git_probe
from worker.health.heartbeat import Heartbeat, skew_s
from worker.health.machine import look_at_machine
from worker.health.rounds import Rounds
from worker.health.shutdown import ShutdownFlag, SignalsOrShutdown
from worker.health.suspension import STREAK, Suspension
from worker.health.trial import Trial
from worker.providers import Provider, ensure_translated, key_of, read_providers
from worker.settings import WorkerSettings
from worker.staging.ground import clear_leftovers, dependencies_below, templates_below
from worker.staging.slots import take_slot
from worker.staging.using import drop_one
from worker.translator import Translator, has_litellm

_CLEARING_S = 30.0
"""How long a worker's start may be held up by what dead ones left."""
_PLAYERS: tuple[PluginGroup, ...] = ("agents", "programs", "oracles")

make_app = celery.make_app
register = celery.register
queue_named = celery.queue_named
take_from = celery.take_from


@cache
def read_settings() -> WorkerSettings:
    """Read FARM_* from the environment; raise SpecError naming the variable that is wrong."""
    return read(WorkerSettings)


@cache
def plugins() -> Plugins:
    """Give the one registry of this process and of those that it forks."""
    return Plugins()


@cache
def redactor() -> Redactor:
    """Give the one redactor of this process, which knows the settings' own secrets."""
    settings = read_settings()
    found = Redactor(settings.secrets)
    for name, provider in known_providers().items():
        with suppress(TransientError):
            found.learn(key_of(name, provider, os.environ))  # noqa: TID251 (a bootstrap reads the environment)
    return found


@cache
def known_providers() -> Mapping[str, Provider]:
    """Read the providers, once; raise SpecError for what is wrong with their file."""
    found = read_providers(read_settings().providers)
    ensure_translated(found, has_translator=has_litellm())
    return found


def offers() -> tuple[str, ...]:
    """Say what cells find on this host: providers with a key, installed programs of agents, labels."""
    reached = []
    for name in known_providers():
        with suppress(TransientError):
            upstream(name)
            reached.append(provider_need(name))
    programs = (program_need(program.kind, program.version) for program in installed_programs().all())
    labels = (label_need(label) for label in sorted(read_settings().all_labels))
    return (*sorted(reached), *programs, *labels)


@cache
def _exchange() -> redis.RedisFarm:
    """Give the main process its connections."""
    return redis.connect(redis_url())


@cache
def _own_sandbox() -> Sandbox:
    """Give the main process a sandbox of its own: the slots, which are forked, share none."""
    return make_sandbox()


def _host_offers() -> tuple[str, ...]:
    """Say all that cells find on this host; asked in the worker's main process."""
    images = image_offers(_own_sandbox()) if read_settings().sandbox == "docker" else ()
    return (*offers(), *images)


def make_duty(fitness: Fitness) -> Duty:
    """Find out whether this host is drained, and what the farm says to it, as far as Redis answers."""
    settings, exchange = read_settings(), _exchange()
    orders = memory.MemoryDrainOrders() if settings.private else exchange.orders
    argv = [sys.executable, "-m", "worker.cli", "--check", "--json"]
    own = OwnState(
        Drain(None if settings.private else settings.root),
        # a private run has no other host: its breaker ends it
        Suspension(fitness.ends, lambda: Trial(argv), system_clock.SystemClock(), 0 if settings.private else STREAK),
        Keeper(settings.floor, settings.root, lambda: _drop_one(settings.root)).shortage,
    )
    duty = Duty(settings.host, FarmWords(orders, exchange.queues), fitness, own)
    with suppress(TransientError):
        duty.look()
    exchange.close()  # the slots, which are forked, share no connection
    return duty


def first_queues(duty: Duty) -> frozenset[str]:
    """Name the queues to take from at once; the heartbeat finds the later ones."""
    return duty.queues(frozenset((*_host_offers(), sandbox_need(read_settings().sandbox))))


def image_offers(sandbox: Sandbox) -> tuple[str, ...]:
    """Say which images tasks may bring to this host; none while its engine does not answer."""
    if sandbox.images is None:
        return ()
    try:
        found = tuple(image_need(digest) for digest in sorted(sandbox.images.digests()))
    except SandboxError:
        return ()
    return (*found, ANY_IMAGE) if read_settings().docker_pull == "yes" else found


@cache
def installed_programs() -> InstalledPrograms:
    """Look after the agents' own programs on this host; each is asked for its version once a process."""
    return InstalledPrograms(read_settings().agents_folder)


def upstream(name: str) -> Upstream:
    """Give a provider as this host reaches it; raise TransientError when it does not."""
    known = known_providers()
    if name not in known:
        raise TransientError(
            f"this host knows no provider {name!r}, only {', '.join(sorted(known))}; "
            "add it to the file that FARM_PROVIDERS names"
        )
    key = key_of(name, known[name], os.environ)  # noqa: TID251 (a bootstrap reads the environment)
    redactor().learn(key)
    provider = known[name]
    translated = frozenset() if provider.translate is None else frozenset({provider.translate})
    return Upstream(name, frozenset(provider.wires), provider.url.rstrip("/"), key, translated)


def warm_up() -> None:
    """Import every agent, program and oracle before the fork, so that each slot does not do it anew.

    One that can't be imported is left to whoever asks for it.
    """
    for group in _PLAYERS:
        for name in plugins().names(group):
            with suppress(SpecError):
                plugins().load(group, name)


def redis_url() -> str:
    """Name the farm's Redis; raise SpecError when none is set."""
    url = read_settings().redis_url
    if not url:
        raise SpecError("no Redis is named: set FARM_REDIS_URL, for example redis://queue:6379/0")
    return url


def tickets_url() -> str:
    """Name who carries tickets; raise SpecError when nobody is named."""
    return read_settings().broker_url or redis_url()


def open_store() -> Store:
    """Open the farm's store; raise SpecError when none is named."""
    settings = read_settings()
    if not settings.store or "://" not in settings.store:
        raise SpecError(f"FARM_STORE is {settings.store!r}: set it to file:///an/absolute/path or s3://bucket/prefix")
    store: Store = plugins().load("stores", urlsplit(settings.store).scheme)(settings.store, settings.store_access)
    return store


def make_sandbox() -> Sandbox:
    """Make the sandbox ready; raise SpecError saying what is missing and how to get it."""
    settings = read_settings()
    options = settings.sandbox_options(is_ci=bool(os.environ.get("CI")))  # noqa: TID251 (a bootstrap reads the environment)
    try:
        sandbox: Sandbox = plugins().load("sandboxes", settings.sandbox)(settings.root, **options)
    except SandboxError as error:
        raise SpecError(str(error)) from error
    return sandbox


def preflight() -> tuple[Probe, ...]:
    """Prove by effect that this host can run cells; a sandbox that can't be made is a failed probe."""
    settings = read_settings()
    try:
        with closing(make_sandbox()) as sandbox:
            return (git_probe(), *sandbox.preflight(settings.root))
    except (SpecError, SandboxError) as error:
        return (git_probe(), Probe("sandbox", ok=False, detail=str(error)))


def ensure_fit() -> None:
    """Raise SpecError with every failed probe's fix, unless this host can run cells."""
    broken = [probe for probe in preflight() if not probe.ok]
    if broken:
        lines = [
            f"{probe.name}: {probe.detail}; {probe.fix}" if probe.fix else f"{probe.name}: {probe.detail}"
            for probe in broken
        ]
        raise SpecError("this host can't run cells:\n  " + "\n  ".join(lines))


def clear_root() -> None:
    """Clear away what dead workers left in the work root, once what their sessions had said is in the store."""
    _clear(open_store())


def make_rounds() -> Rounds:
    """Build what goes on clearing while this worker lives: one of its slots may die."""
    return Rounds(functools.partial(_clear, open_store()), system_clock.SystemClock())


def _clear(store: Store) -> int:
    clock = system_clock.SystemClock()
    until_s = clock.monotonic() + _CLEARING_S
    janitor = Janitor(Truth(store.blobs, store.records), redactor(), clock, until_s)
    return clear_leftovers(read_settings().root, janitor.look)


def make_line(flag: ShutdownFlag, fitness: Fitness) -> CellLine:
    """Build the line of one slot, with a number and connections of this process's own: call it after the fork."""
    settings = read_settings()
    with ExitStack() as undo:  # a line that can't be made is tried again at the next ticket
        slot = undo.enter_context(closing(take_slot(settings.root)))  # held until this process ends
        exchange, store = undo.enter_context(closing(redis.connect(redis_url()))), open_store()
        sandbox = undo.enter_context(closing(make_sandbox()))
        ports = LinePorts(
            exchange=Exchange(
                exchange.leases, SignalsOrShutdown(exchange.signals, flag, fitness), exchange.events, exchange.live
            ),
            truth=Truth(store.blobs, store.records),
            sandbox=sandbox,
            plugins=plugins(),
            clock=system_clock.SystemClock(),
            fitness=fitness,
            redactor=redactor(),
            doors=DoorPorts(
                gateway=Gateway(system_clock.SystemClock()),
                upstream=upstream,
                offers=lambda: (*offers(), *image_offers(sandbox)),
                programs=installed_programs(),
                translator=Translator(system_clock.SystemClock()),
            ),
        )
        holder = f"{settings.host}/{secrets.token_hex(6)}"
        place = Place(
            settings.host, slot.number, settings.root, holder, settings.sandbox, settings.hours, settings.floor
        )
        line = CellLine(ports, place, Timing(settings.lease_ttl_s, settings.beat_s))
        undo.pop_all()
        return line


@dataclass(frozen=True, slots=True)
class Pool:
    """The slots, as Celery sees them."""

    slots: int
    busy: Callable[[], int]
    """Count those at work."""
    take_from: Callable[[frozenset[str]], None]
    """Choose the queues that they get tickets from."""


def make_heartbeat(pool: Pool, duty: Duty) -> Heartbeat:
    """Build this worker's heartbeat, which follows what the farm says to it."""
    settings, clock = read_settings(), system_clock.SystemClock()

    def left_s() -> float | None:
        try:
            return settings.hours.left_s(_exchange().leases.now() if settings.hours.needs_calendar else None)
        except TransientError:  # then this beat is not heard either
            return None

    def facts() -> Host:
        problem, draining = duty.problem, duty.draining
        return Host(
            id=f"{settings.host}/{os.getpid()}",
            slots=pool.slots if problem is None and draining is None else 0,
            busy=pool.busy(),
            version=__version__,
            sandbox=settings.sandbox,
            offers=_host_offers(),
            seen_at=clock.now(),
            left_s=left_s(),
            problem=problem,
            draining=draining,
            order=duty.order,
            machine=look_at_machine(settings.root),
            skew_s=skew_s(_exchange().leases, clock),
        )

    def look(host: Host) -> bool:
        try:
            return duty.look()
        finally:
            pool.take_from(duty.queues(host_offers(host)) if host.left_s != 0 else frozenset())

    return Heartbeat(_exchange().hosts, facts, look, clock)


def watch_lifeline() -> None:
    """With a lifeline, end this process the moment its other end is closed; the slots die with it."""
    if read_settings().lifeline:
        threading.Thread(target=_wait_for_its_end, name="lifeline", daemon=True).start()


def start_grace(flag: ShutdownFlag) -> None:
    """Let the cells that still run at the end of the grace be stopped."""
    grace_s = read_settings().grace_s
    if grace_s is not None:
        timer = threading.Timer(grace_s, flag.raise_it)
        timer.daemon = True
        timer.start()


def has_lifeline() -> bool:
    return read_settings().lifeline


def configure_logs() -> None:
    telemetry.configure(json=True, redactor=redactor())


def worker_environment(slots: int, *, lifeline: bool) -> Mapping[str, str]:
    """Give the environment of the worker's Celery process: ours, with the slots and the lifeline set."""
    inherited = dict(os.environ)  # noqa: TID251 (a bootstrap reads the environment)
    return inherited | {"FARM_SLOTS": str(slots), "FARM_LIFELINE": "true" if lifeline else "false"}


def _wait_for_its_end() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


def _drop_one(root: Path) -> bool:
    """Drop one thing of this host's that can be made again and that nobody uses."""
    return drop_one(templates_below(root)) or drop_one(dependencies_below(root))
