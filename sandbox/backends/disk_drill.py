"""The disk's limits, shown by effect: what ends for want of room on a disk goes on beside it, and harms nobody."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sandbox.backends.drills import LIMITS
from sandbox.backends.verdicts import OUT, REPORT
from sandbox.disk import DISK, INODES, Disk, Disks, find
from sandbox.errors import SandboxError
from sandbox.spec import Bind, DiskSize, Exit, Probe, Sandbox, SandboxSpec

_NAME = "disk and inodes"
_SIZE = DiskSize(4 << 20, 64)
_HELD = f"ENOSPC ENOSPC nodev,nosuid {DISK} {INODES}"
_FREE = "done done"
_SCRIPT = f"""
came_of() {{
    complaint=$("$@" 2>&1) && end=done || case $complaint in *"No space left"*) end=ENOSPC;; *) end=failed;; esac
}}
names= number=0
while [ $number -lt {2 * _SIZE.inodes} ]; do names="$names {OUT}/$number"; number=$((number + 1)); done
: >{OUT}/big
came_of touch $names; littered=$end
came_of dd if=/dev/zero of={OUT}/big bs=65536 count={2 * _SIZE.size_bytes >> 16}; filled=$end
own=
while read -r id up device root at options rest; do
    case "$at $rest" in "{OUT} "*" /dev/loop"*)
        case ,$options, in *,nodev,*) own=nodev;; esac
        case ,$options, in *,nosuid,*) own=$own,nosuid;; esac;;
    esac
done </proc/self/mountinfo
echo $filled $littered $own
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
        argv=("/bin/sh", "-c", _SCRIPT),
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
