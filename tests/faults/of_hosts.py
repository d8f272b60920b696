"""Faults 24 to 27, 34, 35, 41 and 46 to 50: clocks, networks, disks, versions, and whole hosts."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from farm.adapters import celery, redis
from farm.model import Claim, Lease, parse_record
from farm.model.keys import attempts_prefix
from tests.builders.faulty import processes
from tests.faults.fault import Fault, Struck
from tests.faults.fleet import LEASE_S, Host
from tests.faults.invariants import seen
from tests.faults.of_redis import begun
from tests.faults.sweep import CELLS, Shape, Sweep
from tests.services.programs import program

NAPS = Shape("middling", nap_s=0.6)


def clocks_differ(sweep: Sweep) -> Struck:
    """Two more hosts work, one two minutes ahead and one behind, and one whose clock is a day ahead."""
    library = _faketime_library()
    for name, offset in (("ahead", "+120s"), ("behind", "-120s"), ("tomorrow", "+1d")):
        sweep.fleet.start(name, env={"LD_PRELOAD": library, "FAKETIME": offset}, slots=2)
    sweep.fleet.await_ready("ahead", "behind")
    struck = begun(sweep)
    sweep.await_results(CELLS)
    return struck


def clock_of_redis_jumps(sweep: Sweep) -> Struck:
    """It jumps a minute ahead: every lease and heartbeat is over at once.

    Its clock itself can't be turned (libfaketime and Redis' allocator do not go together), so all that it compares
    with its clock is moved by a minute, in one step.
    """
    sweep.coordinate()
    sweep.await_sessions(8)
    struck = Struck(seen(sweep))
    with sweep.fleet.redis.client() as client:
        client.eval(_JUMP, 0)
    sweep.await_results(CELLS)
    return struck


_JUMP = """
for _, key in ipairs(redis.call('KEYS', 'farm:*')) do
  if redis.call('TYPE', key).ok == 'zset' then
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, -60000, member) end
  end
end
"""


def _faketime_library() -> str:
    """Find what `faketime` puts before a program."""
    words = [str(program("faketime")), "-f", "+0", "env"]
    told = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return next(line.partition("=")[2] for line in told.splitlines() if line.startswith("LD_PRELOAD="))


def cut_off(seconds: float, *directions: str) -> Callable[[Sweep], Struck]:
    """Drop the packets between a host and Redis."""

    def strike(sweep: Sweep) -> Struck:
        sweep.coordinate()
        sweep.await_sessions(8)
        struck = Struck(seen(sweep))
        with sweep.fleet.lanes["b"].dropping(sweep.fleet.redis.port, *directions):
            began = time.monotonic()
            if seconds > LEASE_S:
                sweep.wait("cut off, it stops its sessions", lambda: not _has_sessions(sweep.fleet.hosts["b"]), 5)
            time.sleep(max(0.0, seconds - (time.monotonic() - began)))
        sweep.await_results(CELLS)
        return struck

    return strike


def _has_sessions(host: Host) -> bool:
    tree = host.tree()
    return any(one.pid in tree and one.command.startswith("sleep ") for one in processes())


@contextmanager
def a_small_root(sweep: Sweep, options: str) -> Iterator[Host]:
    """Let another host work on a file system of its own."""
    root = sweep.fleet.folder / "small"
    root.mkdir(exist_ok=True)
    subprocess.run(("mount", "-t", "tmpfs", "-o", f"mode=711,{options}", "tmpfs", root), check=True)
    try:
        host = sweep.fleet.start("small", slots=2)
        sweep.fleet.await_ready("small")
        yield host
    finally:
        sweep.fleet.remove("small")
        subprocess.run(("umount", "-l", root), check=True)
        shutil.rmtree(root)


def host_disk(breaks: Callable[[Path], None], options: str = "size=64m") -> Callable[[Sweep], Struck]:
    """Break a host's disk under its running cells; they are run elsewhere."""

    def strike(sweep: Sweep) -> Struck:
        with a_small_root(sweep, options) as host:
            struck = begun(sweep, 1)
            breaks(host.root)
            sweep.await_results(CELLS)
        return struck

    return strike


def full(root: Path) -> None:
    with (root / "ballast").open("wb") as file:
        try:
            while True:
                file.write(bytes(1 << 16))
                file.flush()
        except OSError:
            pass


def out_of_inodes(root: Path) -> None:
    try:
        for number in range(1_000_000):
            (root / f"ballast-{number}").touch()
    except OSError:
        pass


def read_only(root: Path) -> None:
    subprocess.run(("mount", "-o", "remount,ro", root), check=True)


def vanished(root: Path) -> None:
    subprocess.run(("umount", "-l", root), check=True)
    subprocess.run(("mount", "-t", "tmpfs", "-o", "ro", "tmpfs", root), check=True)


def no_sandbox(sweep: Sweep) -> Struck:
    """A host whose bwrap does not work takes nothing, and says so."""
    struck = begun(sweep)
    stub = sweep.fleet.folder / "stub.sh"
    stub.write_text("#!/bin/sh\nexit 1\n")
    stub.chmod(0o755)
    words = f'mount --bind {stub} "$0" && exec "$@"'
    host = sweep.fleet.start("stub", "unshare", "--mount", "sh", "-c", words, str(program("bwrap")))
    assert host.process.wait(40) == 2
    assert "can't run cells" in host.log.read_text()
    return struck


def many_small_leaks(sweep: Sweep) -> Struck:
    """Files, memory and processes of the workers are after the sweep what they were before."""
    hosts = sweep.fleet.hosts.values()
    before = [_held(host) for host in hosts]
    struck = begun(sweep, CELLS)
    sweep.end()
    for host, (files, size) in zip(hosts, before, strict=True):
        sweep.wait("the files are closed", lambda host=host, files=files: _held(host)[0] <= files + 40)
        assert _held(host)[1] < size + (64 << 20)
    return struck


def _held(host: Host) -> tuple[int, int]:
    """Count a worker's open files and its resident bytes."""
    files = pages = 0
    for pid in host.tree():
        try:
            files += len(os.listdir(f"/proc/{pid}/fd"))  # noqa: PTH208
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
    return files, pages * os.sysconf("SC_PAGE_SIZE")


def other_versions(sweep: Sweep) -> Struck:
    """A newer coordinator's tickets, a newer worker's heartbeat and hints: what is not understood is left alone."""
    struck = begun(sweep, 1)
    app = celery.make_app(sweep.fleet.redis.url)
    ticket = sweep.ticket(0).model_dump(mode="json")
    for strange in (ticket | {"schema_version": 2}, ticket | {"colour": "red"}, {"ticket": "another"}):
        app.send_task(celery.RUN_CELL, args=[strange], queue=celery.queue_named(sweep.ticket(0).queue))
    with sweep.fleet.redis.client() as client:
        hint = {"kind": "finished", "index": 3, "attempt": 1}
        for strange in (hint | {"kind": "rested"}, hint | {"colour": "red"}, ["finished"]):
            client.rpush(f"farm:events:{sweep.id}", json.dumps(strange))
        host = sweep.fleet.exchange.hosts.live()[0].model_dump(mode="json") | {"colour": "red", "id": "newer/1"}
        now_ms = int(client.time()[0]) * 1000
        client.zadd("farm:hosts:deadlines", {"newer/1": now_ms + 20_000})
        client.hset("farm:hosts:facts", "newer/1", json.dumps(host))
    sweep.await_results(CELLS)
    with sweep.fleet.redis.client() as client:
        client.zrem("farm:hosts:deadlines", "newer/1")
    return struck


def a_herd(sweep: Sweep) -> Struck:
    """Forty more clients hold leases and come back at once when Redis does; nobody waits long for an answer."""
    struck = begun(sweep)
    farms = [redis.connect(sweep.fleet.redis.url) for _ in range(40)]
    cells = [Lease(sweep=sweep.id, cell=f"herd-{n}", index=n, attempt=1, holder=f"h/{n}") for n in range(40)]  # type: ignore[arg-type]
    sweep.fleet.redis.process.kill()
    back = threading.Barrier(41)
    waits = list[float]()

    def come_back(number: int) -> None:
        back.wait(30)
        for _ in range(5):
            began = time.monotonic()
            farms[number].leases.renew(cells[number], 1.0)
            waits.append(time.monotonic() - began)
            farms[number].leases.release(cells[number])

    threads = [threading.Thread(target=come_back, args=(number,)) for number in range(40)]
    for thread in threads:
        thread.start()
    sweep.fleet.redis.process.start_again()
    back.wait(30)
    for thread in threads:
        thread.join(30)
    for one in farms:
        one.close()
    assert len(waits) == 200
    assert sorted(waits)[100] < 1.0
    return struck


def nobody_reads_the_log(sweep: Sweep) -> Struck:
    """A worker's output is a pipe whose reader goes away."""
    reader, writer = os.pipe()
    sweep.fleet.start("unread", slots=2, out=writer)
    os.close(writer)
    sweep.fleet.await_ready("unread")
    os.close(reader)
    struck = begun(sweep)
    sweep.await_results(CELLS)
    assert sweep.fleet.hosts["unread"].is_alive
    hosts = {outcome.host for attempts in sweep.all_outcomes().values() for outcome in attempts.values()}
    assert "unread" in hosts
    return struck


def hosts_reboot(sweep: Sweep) -> Struck:
    """All that runs on them is gone at once, and their temporary folders are empty."""
    sweep.coordinate()
    sweep.await_sessions(8)
    struck = Struck(seen(sweep))
    for name in ("a", "b"):
        host = sweep.fleet.hosts[name]
        for pid in sorted(host.tree(), reverse=True):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        host.process.wait(10)
    sweep.fleet.heal()
    return struck


def window_ends(sweep: Sweep) -> Struck:
    """A host's time is over while its cells run: it starts no more, and hands back what it had begun."""
    closes = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=_WINDOW_S)
    window = f"{closes - timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}/{closes:%Y-%m-%dT%H:%M:%SZ}"
    sweep.fleet.start("short", env={"FARM_WINDOW": window})
    sweep.fleet.await_ready("short")
    struck = begun(sweep, 1)
    sweep.wait("its time is over", lambda: datetime.now(UTC) > closes)
    sweep.wait("it stops its sessions", lambda: not _has_sessions(sweep.fleet.hosts["short"]), 5)
    assert sweep.coordinator is not None
    sweep.coordinator.join(30)
    if sweep.words()[-1].get("end") == "left-open":
        sweep.coordinate()
    sweep.await_results(CELLS)
    for key in sweep.records.keys(attempts_prefix(sweep.id)):
        if key.endswith("/claim.json"):
            claim = parse_record(Claim, sweep.records.read(key), key)
            assert claim.host != "short" or claim.claimed_at < closes, claim
    return struck


_WINDOW_S = 9

FAULTS = (
    Fault(24, "clocks-differ", clocks_differ),
    Fault(25, "clock-of-redis-jumps", clock_of_redis_jumps, NAPS),
    Fault(26, "host-is-cut-off-for-a-moment", cut_off(1.0, "input", "output"), NAPS),
    Fault(26, "host-is-cut-off-longer-than-a-lease", cut_off(3.0, "input", "output"), Shape("slow", nap_s=1.0)),
    Fault(27, "answers-do-not-come-back", cut_off(1.2, "input"), NAPS),
    Fault(34, "disk-of-a-host-is-full", host_disk(full)),
    Fault(34, "host-has-no-inodes-left", host_disk(out_of_inodes, "size=64m,nr_inodes=3000")),
    Fault(35, "disk-of-a-host-is-read-only", host_disk(read_only)),
    Fault(35, "disk-of-a-host-is-gone", host_disk(vanished)),
    Fault(41, "host-has-no-sandbox", no_sandbox),
    Fault(42, "window-of-a-host-ends", window_ends, Shape("long-naps", nap_s=2.5)),
    Fault(46, "workers-leak-nothing", many_small_leaks),
    Fault(47, "other-versions-speak", other_versions),
    Fault(48, "a-herd-comes-back", a_herd),
    Fault(49, "nobody-reads-the-log", nobody_reads_the_log),
    Fault(50, "hosts-reboot", hosts_reboot, NAPS),
)
