"""The worker's settings from the environment (FARM_*), read once, in the bootstrap."""

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from farm.errors import SpecError
from farm.model.names import LABEL
from farm.model.time_window import parse_window
from farm.settings import FarmSettings
from worker.health.floor import GIB, Floor
from worker.health.host_hours import HostHours

_MOST_BEAT_S = 5.0
"""The coordinator takes a lease that it has not seen for 6 s for lost: a wiped Redis must hear of it sooner."""
_BEATS_A_LEASE = 3
"""Two heartbeats may be lost."""


class WorkerSettings(FarmSettings):
    """Where the farm's services are, and what this host gives."""

    work_root: Path | None = None
    """Where cells live; None: /var/lib/cellfarm for root, /var/tmp/cellfarm-<uid> for anybody else."""
    slots: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Cells at once; None: the CPUs that this process may use."""
    host_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")] | None = None
    """Unique in the farm; None: the host's name."""
    lease_ttl_s: Annotated[float, Field(gt=1)] = 30.0
    beat_s: Annotated[float, Field(gt=0)] = 5.0
    disk_floor_gib: Annotated[float, Field(ge=0)] = 1.0
    """No cell begins while less of the work root's file system is free."""
    inode_floor: Annotated[int, Field(ge=0)] = 20_000
    """The same of inodes."""
    labels: Annotated[str, Field(pattern=rf"^({LABEL}(,{LABEL})*)?$")] = ""
    """What arms may require of a host, by words parted by commas; arch=<machine> is added."""
    grace_s: Annotated[float, Field(ge=0)] | None = None
    """After SIGTERM running cells may go on for so long; then they are stopped and handed back. None: to their end."""
    sandbox: str = "bubblewrap"
    docker_image: str = ""
    """For the docker sandbox: the image, by digest, of the guests of tasks that bring none."""
    docker_pull: Literal["yes", "no"] = "no"
    """For the docker sandbox: whether tasks' images may be pulled that the engine does not have."""
    docker_engine: Annotated[str, Field(pattern=r"^(unix:///.+)?$")] = ""
    """For the docker sandbox: the engine's socket; empty: Docker's own default."""
    allow_unsafe_host: Literal["yes", "no"] = "no"
    """Whether the sandbox unsafe-host, which contains nothing, may be used."""
    providers: Path | None = None
    """A file that says where providers of models are, over those that everybody knows; see worker.providers."""
    agents: Path | None = None
    """Where ops/agents.sh puts the CLIs of agents; None: the folder agents below the work root."""
    window: str = ""
    """When this host may work; empty: always. See farm.model.time_window."""
    lifeline: bool = False
    """Standard input is a pipe from whoever started us: at its end, end at once; SIGTERM stops running cells."""

    private: bool = False
    """The queue is that of the one run that started us: what the farm's hosts are told is not for us."""

    @model_validator(mode="after")
    def _rhythm_holds(self) -> Self:
        if self.beat_s > _MOST_BEAT_S or _BEATS_A_LEASE * self.beat_s > self.lease_ttl_s:
            beat_s = min(self.beat_s, _MOST_BEAT_S)
            raise SpecError(
                f"FARM_BEAT_S is {self.beat_s:g} and FARM_LEASE_TTL_S is {self.lease_ttl_s:g}: set FARM_BEAT_S to at "
                f"most {_MOST_BEAT_S:g}, or the coordinator takes a cell for lost between two heartbeats, and set "
                f"FARM_LEASE_TTL_S to at least {_BEATS_A_LEASE * beat_s:g}, {_BEATS_A_LEASE} heartbeats"
            )
        return self

    @model_validator(mode="after")
    def _window_is_one(self) -> Self:
        try:
            self.hours  # noqa: B018 (it is read to be checked)
        except ValueError as error:
            raise SpecError(f"FARM_WINDOW: {error}, or 'instance 24h reserve 90m' for a machine's life") from None
        return self

    @property
    def hours(self) -> HostHours:
        return HostHours(parse_window(self.window) if self.window else None)

    @property
    def root(self) -> Path:
        if self.work_root is not None:
            return self.work_root.absolute()
        return Path("/var/lib/cellfarm") if os.geteuid() == 0 else Path(f"/var/tmp/cellfarm-{os.geteuid()}")  # noqa: S108 (kept between runs; its owner is checked)

    @property
    def agents_folder(self) -> Path:
        return self.agents.absolute() if self.agents is not None else self.root / "agents"

    def sandbox_options(self, *, is_ci: bool) -> Mapping[str, str | bool]:
        """Give what the chosen sandbox's own constructor takes besides the work root."""
        match self.sandbox:
            case "docker":
                return {"image": self.docker_image, "url": self.docker_engine, "pulls": self.docker_pull == "yes"}
            case "unsafe-host":
                return {"is_allowed": self.allow_unsafe_host == "yes", "is_ci": is_ci}
            case _:
                return {}

    @property
    def floor(self) -> Floor:
        return Floor(int(self.disk_floor_gib * GIB), self.inode_floor)

    @property
    def all_labels(self) -> frozenset[str]:
        return frozenset(label for label in (*self.labels.split(","), f"arch={os.uname().machine}") if label)

    @property
    def slot_count(self) -> int:
        return self.slots or len(os.sched_getaffinity(0))

    @property
    def host(self) -> str:
        return self.host_id or socket.gethostname() or "host"
