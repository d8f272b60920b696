"""What judging costs: each gate over a settled table, small and large.

    python ops/bench/judging.py [--rows 300 1000000] [--gates paired reliability …]

Each gate judges a table of its own in a process of its own. Printed: seconds of judging alone, and the most memory that
the process held, the table included. The rows are of one sweep of three arms: at most a thousand tasks of five trials
or more; half of the answers are right, and two arms differ a little.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from farm.cli.finishing import load_gate
from farm.gates.protocol import Gate
from farm.gates.table import Lifecycle, Row, Table
from farm.model import (
    Arm,
    ArmRole,
    CloseReason,
    Digest,
    Governed,
    OracleFinding,
    OracleSpec,
    Pin,
    Plan,
    ScopeFinding,
    Snapshot,
    Task,
)

ARMS = {"baseline": ArmRole.INCUMBENT, "governed-model-contract": ArmRole.CANDIDATE}
THIRD = "governed-reference-contract"
LEAST_TRIALS, MOST_TASKS = 5, 1000
GATES = ("paired", "reliability", "completeness", "spend", "health", "promotion")
MIB = 1024


@dataclass(frozen=True, slots=True)
class Judged:
    """What one gate took."""

    gate: str
    rows: int
    seconds: float
    cpu_s: float
    peak_mib: float
    decision: str


def a_table(rows: int) -> Table:
    """Make a table of so many rows, but for what is cut by whole tasks."""
    arms = [*ARMS, THIRD]
    names = [f"task-{number}" for number in range(max(1, min(MOST_TASKS, rows // (LEAST_TRIALS * len(arms)))))]
    trials = rows // (len(names) * len(arms))
    pin = Pin(name="scripted", version="1")
    plan = Plan(
        name="bench",
        farm_version="0",
        tasks=tuple(_task(name) for name in names),
        arms=tuple(
            Arm(name=arm, role=ARMS.get(arm, ArmRole.COMPARATOR), agent=pin, program=pin, incumbent=_incumbent(arm))
            for arm in arms
        ),
        trials=trials,
        cells=(),
    )
    made = tuple(
        _row(name, arm, trial, place)
        for place, name in enumerate(names)
        for trial in range(1, trials + 1)
        for arm in arms
    )
    lifecycle = Lifecycle(close=CloseReason.COMPLETE, cleanup_incomplete=False)
    return Table.model_construct(plan=plan, lifecycle=lifecycle, rows=made)


def _incumbent(arm: str) -> str | None:
    return "baseline" if ARMS.get(arm) is ArmRole.CANDIDATE else None


def _task(name: str) -> Task:
    return Task(
        id=name,
        snapshot=Snapshot(commit="a" * 40, tree=Digest.of(b"tree"), size_bytes=1),
        prompt=Digest.of(b"prompt"),
        oracle=OracleSpec(kind="files", options={}),
    )


_FINDINGS = {answer: OracleFinding(correct=answer) for answer in (True, False)}
_CLAIM = Governed(claims_success=True)
_SCOPE = ScopeFinding()


def _row(task: str, arm: str, trial: int, place: int) -> Row:
    is_right = (place + trial) % 2 == 0 or (arm != "baseline" and (place * 7 + trial) % 11 == 0)
    return Row(
        cell=f"{task}.{arm}.{trial}",
        task=task,
        arm=arm,
        role=ARMS.get(arm, ArmRole.COMPARATOR),
        trial=trial,
        oracle=_FINDINGS[is_right],
        scope=_SCOPE,
        cost_usd=Decimal("0.25"),
        duration_s=12.0,
        attempts=1,
        governed=_CLAIM,
    )


def _judge(gate: str, rows: int, told: Connection) -> None:
    judge: Gate = load_gate(gate)
    table = a_table(rows)
    options = {"spend": {"most": 1e9, "most_of_incumbent": 2.0}}.get(gate, {})
    policy = judge.policy(dict(options), tuple(task.id for task in table.plan.tasks))
    began_s, used_s = time.perf_counter(), time.process_time()
    found = judge.judge(table, policy)
    seconds, cpu_s = time.perf_counter() - began_s, time.process_time() - used_s
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / MIB
    told.send(Judged(gate, len(table.rows), seconds, cpu_s, peak, found.decision.value))


def main() -> None:
    """Judge and print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, nargs="+", default=[300, 1_000_000])
    options.add_argument("--gates", nargs="+", default=GATES)
    chosen = options.parse_args()
    for rows in chosen.rows:
        for gate in chosen.gates:
            ours, theirs = multiprocessing.Pipe()
            child = multiprocessing.get_context("spawn").Process(target=_judge, args=(gate, rows, theirs))
            child.start()
            theirs.close()
            try:
                done = ours.recv()
            except EOFError:
                print(f"{gate}: {rows} rows: failed")
                continue
            finally:
                child.join()
            took = f"{done.rows} rows in {done.seconds:.2f} s ({done.cpu_s:.2f} s CPU), at most {done.peak_mib:.0f} MiB"
            print(f"{done.gate}: {took}; {done.decision}")


if __name__ == "__main__":
    main()
