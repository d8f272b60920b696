"""Celery alone: a task that appends a byte to a file, with the same start flags and acknowledgement as the farm's."""

import os
import sys
from pathlib import Path

import celery
import measure

ENDED = "FARM_BENCH_ENDED"
URL = "FARM_BENCH_REDIS_URL"

app = celery.Celery("raw_celery", broker=os.environ.get(URL, "memory://"))  # noqa: TID251 (a bench has no settings)
app.conf.update(
    task_acks_late=False,
    task_ignore_result=True,
    worker_disable_prefetch=True,
    worker_prefetch_multiplier=1,
    worker_send_task_events=False,
    task_default_queue="raw",
    broker_connection_retry_on_startup=True,
)


@app.task(name="raw.noop")
def noop(text: str) -> None:
    """Append one byte: what tells the bench that the task ran."""
    assert text  # noqa: S101 (a message of a ticket's size, so that encoding it costs the same)
    ended = os.open(os.environ[ENDED], os.O_WRONLY | os.O_APPEND)  # noqa: TID251 (as above)
    os.write(ended, b".")
    os.close(ended)


def tasks_cost(count: int, slots: int, redis_url: str, folder: Path) -> measure.Cost:
    """Send `count` tasks to a warm worker and give their cost, the worker's start and end not included."""
    ended = folder / "ended"
    ended.write_bytes(b"")
    env = dict(os.environ) | {ENDED: str(ended), URL: redis_url, "PYTHONPATH": str(Path(__file__).parent)}  # noqa: TID251
    flags = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "WARNING")
    argv = (sys.executable, "-m", "celery", "-A", "raw_celery", "worker", "-P", "prefork", "-c", str(slots), *flags)
    app.conf.update(broker_url=redis_url)
    text = "x" * 200

    def send(number: int) -> None:
        before = ended.stat().st_size
        for _ in range(number):
            noop.apply_async((text,))
        measure.wait_until(lambda: ended.stat().st_size >= before + number, f"the end of {number} Celery tasks")

    with measure.running(argv, env, folder / "celery.log") as pid:
        send(slots * 2)
        tree = _tree_cpu_s(pid)
        sending = measure.cost_of(lambda: send(count))
        return measure.Cost(sending.wall_s, sending.cpu_s + _tree_cpu_s(pid) - tree)


def _tree_cpu_s(pid: int) -> float:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8").split()
    return measure.process_cpu_s(pid) + sum(measure.process_cpu_s(int(child)) for child in children)
