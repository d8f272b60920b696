"""One Redis or Valkey server: its connections, its scripts, and its failures as the farm's errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.commands.core import Script
from redis.retry import Retry

from farm.errors import SpecError, TransientError

_SCHEMES = ("redis", "rediss", "unix")
_REFUSED = (
    redis.AuthenticationError,
    redis.exceptions.AuthorizationError,
    redis.exceptions.AuthenticationWrongNumberOfArgsError,
    redis.exceptions.NoPermissionError,
)
"""Kinds of the connection error that no second try mends."""


class Server:
    """A pool of connections. Every call is idempotent or may be doubled, so a lost reply is simply asked for again."""

    def __init__(self, url: str) -> None:
        if url.partition("://")[0] not in _SCHEMES:
            raise SpecError(f"Redis URL {shown(url)!r} is not one; write redis://host:6379/0 or unix:///path?db=0")
        self.shown_url = shown(url)
        try:
            self.client: redis.Redis = redis.Redis.from_url(
                url,
                decode_responses=True,
                socket_connect_timeout=5,
                socket_timeout=15,
                health_check_interval=25,
                client_name="farm",
                retry=Retry(ExponentialWithJitterBackoff(base=0.05, cap=0.5), 2, (redis.ConnectionError,)),
            )
        except ValueError as error:
            # The error's own words may hold a part of the password.
            raise SpecError(
                f"Redis URL {self.shown_url!r} is not one: check its port and database, and write "
                "/, ?, # and @ in a password as %2F, %3F, %23 and %40"
            ) from error

    @contextmanager
    def answering(self) -> Iterator[redis.Redis]:
        """Give the client; what it raises becomes a TransientError or a SpecError."""
        try:
            yield self.client
        except _REFUSED as error:
            raise SpecError(
                f"Redis at {self.shown_url} refused us ({error}); see to the user and password in FARM_REDIS_URL"
            ) from error
        except redis.RedisError as error:
            if "DB index" in str(error):
                raise SpecError(f"Redis at {self.shown_url} has no such database ({error})") from error
            raise TransientError(f"Redis at {self.shown_url} did not answer: {error}", retry_after_s=1.0) from error

    def script(self, name: str) -> "ServerScript":
        """Give the script scripts/<name>.lua; it is sent by its digest, and whole when the server has lost it."""
        return ServerScript(self, self.client.register_script(_source(name)))


class ServerScript:
    """A script that runs as one step."""

    def __init__(self, server: Server, script: Script) -> None:
        self._server = server
        self._script = script

    def run(self, keys: tuple[str, ...], *arguments: str | int) -> Any:  # noqa: ANN401 (a script's reply has its own shape)
        with self._server.answering():
            return self._script(keys=keys, args=arguments)


def milliseconds(seconds: float) -> int:
    """Turn a time to live into what the scripts take."""
    return max(1, round(seconds * 1000))


def shown(url: str) -> str:
    """Return `url` without user, password and options, even when it is no proper URL."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return "(not a URL)"
    if {"=", "@"} <= set(rest.partition("?")[2]):
        return scheme + mark + "…"  # an @ in an option, or a ? in the password: nobody can tell where the host stands
    return scheme + mark + rest.rpartition("@")[2].partition("?")[0]


@cache
def _source(name: str) -> str:
    return resources.files("farm.adapters.redis").joinpath("scripts", f"{name}.lua").read_text()
