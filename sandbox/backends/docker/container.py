"""What the engine is asked for: the container of a spec, as a pure function, in the engine's own words."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sandbox.backends.plan import DEFAULT_ENV, is_home_bound, is_tmp_bound, ours_inside
from sandbox.spec import DOOR, TMP, Bind, SandboxSpec

Json = Mapping[str, object]

ROOT_LABEL = "cellfarm.root"
OWNER_LABEL = "cellfarm.owner"
INIT = "/.init"
_SHM_BYTES = 64 << 20
_SMALL_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Image:
    """An image, by the digest that says all of it."""

    id: str
    env: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Place:
    """What every container of a backend has in common."""

    image: Image
    init: Path
    labels: Mapping[str, str]


def container(spec: SandboxSpec, place: Place, owner: tuple[int, int]) -> Json:
    """Give the body of the engine's request to make a container for `spec`."""
    env = {**DEFAULT_ENV, **place.image.env, "HOME": spec.home, **spec.env}
    limits, port = spec.limits, 0 if spec.door is None else spec.door.port
    return {
        "Image": place.image.id,
        "Entrypoint": [INIT, spec.cwd, str(limits.file_size_bytes), str(limits.open_files), str(port), *spec.argv],
        "User": f"{owner[0]}:{owner[1]}",
        "Env": [f"{key}={value}" for key, value in sorted(env.items())],
        "WorkingDir": "/",
        "Hostname": "cell",
        "Labels": dict(place.labels),
        "NetworkDisabled": True,
        "Healthcheck": {"Test": ["NONE"]},  # an image's own would run a command beside the guest's
        "OpenStdin": True,
        "StdinOnce": True,
        "AttachStdin": True,
        "AttachStdout": True,
        "AttachStderr": True,
        "HostConfig": _host(spec, place.init, owner),
    }


def _host(spec: SandboxSpec, init: Path, owner: tuple[int, int]) -> Json:
    limits = spec.limits
    door = () if spec.door is None else (Bind(spec.door.socket, DOOR),)
    return {
        "NetworkMode": "none",
        "IpcMode": "private",
        "CgroupnsMode": "private",
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "PidsLimit": limits.processes + ours_inside(spec),
        "Memory": limits.memory_bytes,
        "MemorySwap": limits.memory_bytes,  # the sum: no swap
        "NanoCpus": round((limits.cpus or 0) * 1e9),  # 0 is as much as there is
        "ShmSize": _SHM_BYTES,
        "Tmpfs": _tmpfs(spec, owner),
        "Mounts": [_mount(bind) for bind in (Bind(init, INIT), *door, *spec.binds)],
        "LogConfig": {"Type": "none", "Config": {}},  # what a guest writes goes to us, not to the engine's disk
        "RestartPolicy": {"Name": "no"},
    }


def _mount(bind: Bind) -> Json:
    return {
        "Type": "bind",
        "Source": str(bind.source),
        "Target": bind.target,
        "ReadOnly": not bind.writable,
        "BindOptions": {"Propagation": "rprivate"},
    }


def _tmpfs(spec: SandboxSpec, owner: tuple[int, int]) -> Mapping[str, str]:
    common = "rw,exec,nosuid,nodev"
    made = {"/run": f"{common},mode=0755,size={_SMALL_BYTES}"}
    if not is_tmp_bound(spec):
        made[TMP] = f"{common},mode=1777,size={spec.limits.tmp_bytes}"
    if not is_home_bound(spec):
        made[spec.home] = f"{common},mode=0700,size={_SMALL_BYTES},uid={owner[0]},gid={owner[1]}"
    for one in spec.scratch:
        made[one.target] = f"{common},mode=0755,size={one.size_bytes},uid={owner[0]},gid={owner[1]}"
    return made
