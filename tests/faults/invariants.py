"""What must hold after every fault, whatever it was: nothing lost, doubled or changed, and nothing left running.

I1 one result a cell; I2 digests are the stored bytes'; I3 no cell is lost; I4 nothing is left running; I5 only the
holder of the fence writes; I7 what stood stands, and the end is in its order; I8 each claim is accounted for; I10 no
wrong result. I6 (windows) and I9 (the time that a stop takes) are the strikes' own to look at.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from farm.model import Result, parse_record
from farm.model.keys import result_key
from sandbox.limits.area import PREFIX
from tests.builders.auditor import Audited, audit
from tests.faults.fleet import Host
from tests.faults.sweep import Outcomes, Sweep


@dataclass(frozen=True)
class Expected:
    """How the sweep is to end; by default every cell is measured."""

    lost: frozenset[str] = frozenset()
    """Cells whose result is a fault."""
    is_cancelled: bool = False
    """Cells may have no result: a person said so."""


def seen(sweep: Sweep) -> Audited:
    """Look at the records that stand now, without their blobs; what is broken already is told at once."""
    audited = audit(sweep.records, None, sweep.id)
    assert audited.violations == (), audited.told
    return audited


def broken(sweep: Sweep, earlier: Audited | None, expected: Expected) -> list[str]:
    """Name every invariant that does not hold; what stood `earlier` must stand still."""
    digests = {} if earlier is None else earlier.digests
    found = audit(sweep.records, sweep.fleet.store().blobs, sweep.id, digests)
    outcomes = sweep.all_outcomes()
    return [
        *found.told.splitlines(),
        *_lost(sweep, outcomes, expected),
        *_doubled(outcomes),
        *left_running(sweep),
    ]


def _lost(sweep: Sweep, outcomes: Outcomes, expected: Expected) -> Iterable[str]:
    for cell in sweep.plan.cells:
        key = result_key(sweep.id, cell.id)
        body = sweep.records.read(key)
        if body is None:
            if not expected.is_cancelled:
                yield f"I3 {cell.id}: it has no result"
            continue
        result = parse_record(Result, body, key)
        if (result.fault is not None) != (cell.id in expected.lost):
            yield f"I3 {cell.id}: its result has the fault {result.fault}"
        outcome = outcomes.get(cell.id, {}).get(result.attempt)
        if outcome is None or (outcome.evidence is not None and not outcome.is_usable):
            yield f"I10 {cell.id}: its result is not usable"


def _doubled(outcomes: Outcomes) -> Iterable[str]:
    for cell, attempts in outcomes.items():
        measured = [number for number, outcome in attempts.items() if outcome.evidence is not None]
        if len(measured) > 1:
            yield f"I1 {cell}: it was measured in attempts {measured}"


def left_running(sweep: Sweep) -> list[str]:
    """Name what a sweep left on this machine: processes, folders, mounts, control groups."""
    fleet = sweep.fleet
    known = {os.getpid()}.union(*(host.tree() for host in fleet.hosts.values()))
    left = [f"I4: process {told} is left" for told in _processes({sweep.shape.mark, fleet.mark}, known)]
    for host in fleet.hosts.values():
        places = (path for area in ("cells", "stage", "disks") for path in host.root.glob(f"{area}/*/*"))
        left += [f"I4: {path} is left" for path in places]
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    left += [
        f"I4: {place} is mounted"
        for place in mounts
        if any(place.startswith(f"{host.root}/") for host in fleet.hosts.values())
    ]
    return [*left, *(f"I4: control group {told} is left" for host in fleet.hosts.values() for told in _groups(host))]


def _groups(host: Host) -> Iterable[str]:
    """Name the control groups that a worker keeps beside the one that each slot has ready for its next run."""
    for area in {place for pid in host.tree() for place in _open(pid) if place.parent.name == PREFIX}:
        cells = [place for place in area.iterdir() if place.is_dir()]
        full = [place for place in cells if (place / "cgroup.procs").read_text()]
        yield from map(str, full or cells[1:])


def _open(pid: int) -> Iterable[Path]:
    """Name what a process has open."""
    with suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                yield entry.readlink()


def _processes(marks: set[str], known: set[int]) -> Iterable[str]:
    """Name the processes that carry a mark in their words or their environment, and are none of the fleet's."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) in known:
            continue
        try:
            told = (entry / "cmdline").read_bytes() + b"\0\0" + (entry / "environ").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state != "Z" and any(mark.encode() in told for mark in marks):
            yield f"{entry.name} ({told.partition(bytes(2))[0].replace(bytes(1), b' ').decode(errors='replace')[:200]})"
