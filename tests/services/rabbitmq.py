"""A real RabbitMQ on loopback ports, with its own folder and its own port mapper."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from tests.services.programs import free_port, program
from tests.services.server import ServerProcess


@dataclass
class RabbitServer:
    """A server and the port mapper without which Erlang leaves one of its own behind."""

    process: ServerProcess
    mapper: ServerProcess
    ports: dict[str, int]

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.ports['listen']}//"

    def start(self) -> None:
        self.mapper.start()
        self.process.start()

    def stop(self) -> None:
        self.process.stop()
        self.mapper.stop()

    def restart(self) -> None:
        """Stop it in order and start it on the same data."""
        self.process.stop()
        self.process.start_again()


def a_rabbitmq(folder: Path) -> RabbitServer:
    """Prepare a server that keeps its data in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    ports = {"listen": 0, "epmd": 0, "nodes": 0}
    env: dict[str, str] = {
        "PATH": os.environ["PATH"],  # noqa: TID251 (a server's own environment)
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "RABBITMQ_NODENAME": f"farm{os.getpid()}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
        "RABBITMQ_LOG_BASE": str(folder / "log"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_ALLOW_INPUT": "true",  # or a shell stands between it and who kills it
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq"),
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-noinput",
        "ERL_EPMD_ADDRESS": "127.0.0.1",
    }

    def mapper() -> list[str]:
        ports["epmd"] = free_port()
        env["ERL_EPMD_PORT"] = str(ports["epmd"])
        return [str(program("epmd")), "-address", "127.0.0.1", "-port", str(ports["epmd"])]

    def server() -> list[str]:
        ports["listen"], ports["nodes"] = free_port(), free_port()
        env["RABBITMQ_NODE_PORT"], env["RABBITMQ_DIST_PORT"] = str(ports["listen"]), str(ports["nodes"])
        return [str(_wrapped())]

    return RabbitServer(
        ServerProcess(server, lambda: _listens(ports["listen"]), folder / "server.log", env, start_s=90.0),
        ServerProcess(mapper, lambda: _listens(ports["epmd"]), folder / "epmd.log", env),
        ports,
    )


def _wrapped() -> Path:
    """Find the server itself: what is on the path may change the user first."""
    own = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
    return own if own.exists() else program("rabbitmq-server")


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
