"""A real Redis or Valkey on a loopback port, with its own folder."""

from dataclasses import dataclass
from pathlib import Path

import redis

from tests.services.programs import free_port
from tests.services.server import ServerProcess


@dataclass
class RedisServer:
    """A server and what fault tests do to it."""

    process: ServerProcess
    port: int = 0

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def client(self) -> redis.Redis:
        """Give a client of the tests' own."""
        return redis.Redis(port=self.port, decode_responses=True)

    def flush(self) -> None:
        """Make it lose everything."""
        with self.client() as client:
            client.flushall()
            client.script_flush()

    def restart(self) -> None:
        """Stop it in order and start it on the same data."""
        self.process.stop()
        self.process.start_again()

    def crash(self) -> None:
        """Kill it and start it on the same data."""
        self.process.kill()
        self.process.start_again()


def a_redis(binary: Path, folder: Path, *settings: str) -> RedisServer:
    """Prepare a server that keeps its data in `folder`; `settings` are further words of its command line."""
    folder.mkdir(parents=True, exist_ok=True)

    def command() -> list[str]:
        server.port = free_port()
        words = f"--port {server.port} --bind 127.0.0.1 --appendonly yes --maxmemory-policy noeviction --daemonize no"
        return [str(binary), *words.split(), "--dir", str(folder), "--save", "", *settings]

    def answers() -> bool:
        try:
            with redis.Redis(port=server.port, socket_connect_timeout=1, socket_timeout=1) as client:
                return bool(client.ping())
        except redis.AuthenticationError:
            return True
        except redis.RedisError:
            return False

    server = RedisServer(ServerProcess(command, answers, folder / "server.log"))
    return server
