"""The disk's limits, shown by effect: what ends for want of room on a disk goes on beside it, and harms nobody."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sandbox.backends.drills import LIMITS, system_python
from sandbox.backends.verdicts import OUT, REPORT
from sandbox.disk import DISK, INODES, Disk, Disks, find
from sandbox.errors import SandboxError
from sandbox.spec import Bind, DiskSize, Exit, Probe, Sandbox, SandboxSpec

_NAME = "disk and inodes"
_SIZE = DiskSize(4 << 20, 64)
_HELD = f"ENOSPC ENOSPC nodev,nosuid {DISK} {INODES}"
_FREE = "done done"
_SCRIPT = f"""
import errno
def tried(deed):
    try:
        deed()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
def litter():
    for number in range({2 * _SIZE.inodes}):
        open(f"{OUT}/{{number}}", "x").close()
with open("{OUT}/big", "wb", buffering=0) as big:
    littered = tried(litter)
    filled = tried(lambda: [big.write(bytes(1 << 16)) for _ in range({2 * _SIZE.size_bytes >> 16})])
mounts = [line.split() for line in open("/proc/self/mountinfo")]
own = next((line[5].split(",") for line in mounts if line[4] == "{OUT}" and line[-2].startswith("/dev/loop")), ())
print(filled, littered, ",".join(sorted({{"nosuid", "nodev"}} & set(own))))
"""
_PLAIN = str.maketrans(dict.fromkeys("{}[]()"))
"""Lines are for people."""


def disk(backend: Sandbox, folder: Path, out: Path) -> Probe:
    """Let a guest write twice what a disk has, in bytes and in files, and the same beside it as the control."""
    found = find(folder / "disks", folder / "images")
    if found.disks is None:
        return Probe(_NAME, ok=True, detail=f"not capped here, {found.reason}".translate(_PLAIN))
    with closing(found.disks):
        backend.close()  # its spawner is older than the place of the disks
        return _probe(backend, found.disks, out)


def _probe(backend: Sandbox, disks: Disks, out: Path) -> Probe:
    own = disks.make(_SIZE, backend.owner(0))
    held, free = _told(backend, own.place, own), _told(backend, out, None)
    own.remove()
    is_held = (held, free) == (_HELD, _FREE)
    megabytes = _SIZE.size_bytes >> 20
    detail = f"{megabytes} MiB and {_SIZE.inodes} inodes held by ext4 on a loop device"
    if not is_held:
        detail = f"{detail}: saw {held or 'nothing'}; without it {free or 'nothing'}"
    return Probe(_NAME, ok=is_held, detail=detail, fix=REPORT)


def _told(backend: Sandbox, place: Path, own: Disk | None) -> str:
    """Run the script in `place` and give what it saw, and which limits we saw."""
    said = bytearray()
    spec = SandboxSpec(
        argv=(system_python(), "-I", "-S", "-B", "-c", _SCRIPT),
        binds=(Bind(place, OUT, writable=True),),
        limits=replace(LIMITS, file_size_bytes=4 * _SIZE.size_bytes),
        cwd="/",
    )

    def run() -> Exit:
        if own is None:
            return backend.run(spec, lambda _, chunk: said.extend(chunk), lambda: False)
        return own.run(backend, spec, lambda _, chunk: said.extend(chunk), lambda: False)

    exit_ = run()
    if exit_.code != 0:
        raise SandboxError(f"the drill for disks did not finish: {exit_}")
    return " ".join([said.decode().strip(), *(one for one in exit_.limits_touched if one in {DISK, INODES})])
