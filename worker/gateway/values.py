"""What a worker tells its gateway: its providers, what a session may do, and how long anything may take."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import urlsplit

from farm.errors import SpecError
from farm.model import MIB, RequestEnd, Wire
from worker.gateway.purse import Purse

OnPressure: TypeAlias = Callable[[RequestEnd, float | None], None]
"""Called in the gateway's own thread for each request that the provider did not serve, with the seconds that it asked
us to wait. It must return at once and not raise."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A provider as this worker reaches it; SpecError for an address that is none."""

    name: str
    wires: frozenset[Wire]
    url: str
    """http(s)://host[:port][/prefix], without a trailing slash: a request's own path is appended."""
    key: str = field(repr=False)
    """Put into each request; '': the provider asks for none."""
    translated: frozenset[Wire] = frozenset()
    """Wires that agents may speak to it all the same: something of ours makes one of `wires` of them."""

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            is_right = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_right, parts = False, urlsplit("")
        if not is_right or "@" in parts.netloc or parts.query or parts.fragment or self.url.endswith("/"):
            raise SpecError(
                f"provider {self.name!r}: its URL must be http(s)://host[:port][/prefix], without credentials, a query"
                " or a trailing slash"  # the URL itself is not repeated: it may hold a password
            )
        if not self.key.isascii() or any(char.isspace() or not char.isprintable() for char in self.key):
            raise SpecError(f"provider {self.name!r}: its key holds blanks or characters that a header can't carry")

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True, slots=True)
class Pass:
    """What one session may do at its door."""

    upstream: Upstream
    models: tuple[str, ...]
    """The only ones that may be asked; (): any."""
    purse: Purse


@dataclass(frozen=True, slots=True)
class Patience:
    """The gateway's clocks and bounds. Every wait has one of them, and every buffer."""

    connect_s: float = 10.0
    """To reach the provider, names and TLS included."""
    silence_s: float = 240.0
    """Without a byte from the provider; an answer that is not streamed is silence until it is whole. Shorter than any
    agent's own clock: the first that gives up says whose fault it was."""
    stall_s: float = 20.0
    """From then on a silence is the provider's fault when the agent or its session ends in it."""
    most_told_wait_s: float = 60.0
    """Of what a provider asks to wait, the most that an agent is told: some obey in silence, however long it is. Longer
    waits are the coordinator's."""
    client_s: float = 60.0
    """For the agent: to send a head, to send a body, to read what is there for it, to stay without a request."""
    close_s: float = 5.0
    """For what still runs when a session has ended."""
    most_body_bytes: int = 32 * MIB
    """A request's body, as it comes and decompressed."""
    most_held_bytes: int = 96 * MIB
    """The bodies of one session's requests at one time."""
    most_event_bytes: int = 8 * MIB
    """One event of a stream, or a whole answer, whose usage is read; longer ones pass unread."""
    most_log_bytes: int = 8 * MIB
    """Of a session's usage log; what comes after is counted in it, not told."""
    most_connections: int = 128
    """Of one session at one time; twice what a sandbox's forwarder holds."""
