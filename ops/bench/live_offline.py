"""The preset `reliability`, whole and without a model: 300 cells of the real farm against the scripted provider.

    python ops/bench/live_offline.py [PROVEN] [HARMFUL] [INCONCLUSIVE] [--slots N] [--pilot N] [--keep FOLDER]

Each history is a sweep of its own, pre-registered as a decision run is: sweep file and lock are committed and pushed
to a repository beside, and the plan is held against them. The model's part is played by the script, turn by turn, in a
small agent of ours; whatever is done, checked, repaired, judged and reported is the farm's doing. The gate must say
what the history is called; of a pilot it can say that of the harmful one alone. `--keep` leaves what was made below the
folder: the store with every run's streams and the patch of its workspace, the reports as JSON, Markdown and HTML, and
what the provider was asked.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from farm.gates.reliability.trial import Part
from farm.model import NO_SUCCESS_LINE, SUCCESS_LINE, TaskSpec
from farm.planning.reliability import TRIALS
from tests.builders.farm_command import FARM, Desk, a_desk, committed
from tests.builders.live_histories import HISTORIES, TASKS, Conduct, History, frozen
from tests.services.provider import serving
from worker.governor.reference import reference_contract
from worker.governor.telling import CONTRACT_PATH

_USAGE = {"ordinary_input": 1200, "cache_read": 9000, "cache_write": 300, "output": 90}
_PRICES = "models:\n  scripted-1: {input: 4, output: 20, cache_read: 0.20, cache_write: 5}\n"
_SWEEP = """\
name: live-offline
preset:
  kind: reliability
  agent: {kind: stand-in, model: scripted-1}
  provider: scripted
prices: prices.yaml
"""
_DONE = f"It is done.\n{SUCCESS_LINE}"
_NOT_DONE = f"It can't be shown.\n{NO_SUCCESS_LINE}"
_LIMIT_S = 3600
_MARKS = {Part.REFERENCE: ("reference-1",), Part.MODEL: ("contract.json",), Part.BASELINE: ()}
"""What stands in an arm's prompts beside its task's own, and in no later arm's."""
_DECIDED = (0, 1, 5)
"""How `farm run` ends when a gate passed, failed, or could not decide."""


def script(history: History) -> dict[str, Any]:
    """Write the provider's script for a history; what marks a governed arm's prompt goes before what all have."""
    parts = (Part.REFERENCE, Part.MODEL, Part.BASELINE)
    rules = [rule for part in parts for task in TASKS for rule in _rules(history, part, task)]
    return {"default_usage": _USAGE, "rules": rules}


def _rules(history: History, part: Part, task: TaskSpec) -> Iterator[dict[str, Any]]:
    """Give a conduct that not every trial has its first turn so many times; later turns are the same for all."""
    counted = Counter(history(task, part, trial) for trial in range(1, TRIALS + 1))
    told = [task.prompt or "", *_MARKS[part]]
    (common, _), *rarer = counted.most_common()
    for conduct, times in reversed(rarer):  # the rarest first, so that a pilot has it too
        name = f"{task.id}, {part}, {conduct}"
        yield {
            "name": name,
            "when": {"prompt": told, "turn": 0},
            "times": times,
            "reply": _turns(task, part, conduct)[0],
        }
    turns = _turns(task, part, common)
    if Conduct.REPAIRS in counted:
        turns = [turns[0], *_turns(task, part, Conduct.REPAIRS)[1:]]
    yield {"name": f"{task.id}, {part}, {common}", "when": {"prompt": told}, "turns": turns}


def _turns(task: TaskSpec, part: Part, conduct: Conduct) -> list[dict[str, Any]]:
    opens = [] if part is Part.BASELINE else [_run(_opening(task, part, conduct))]
    does = [_run(_solving(task))]
    match conduct:
        case Conduct.SOLVES:
            return [{"tools": [*opens, *does]}, {"answer": _DONE}]
        case Conduct.REPAIRS:
            return [{"tools": opens}, {"answer": _DONE}, {"tools": does}, {"answer": _DONE}]
        case Conduct.CLAIMS:
            return [{"answer": _DONE}]
        case Conduct.REFUSES:
            return [{"tools": opens}, {"answer": _NOT_DONE}] if opens else [{"answer": _NOT_DONE}]
        case Conduct.CHEATS:
            return [{"tools": [*opens, _run("touch signal.txt")]}, {"answer": _DONE}]


def _opening(task: TaskSpec, part: Part, conduct: Conduct) -> str:
    """Write the contract: what the oracle checks, or for wrong work that a file is there."""
    text = reference_contract(frozen(task), task.prompt or "").model_dump_json()
    contract = json.loads(text if part is Part.REFERENCE else text.replace("reference-", "mine-"))
    if conduct is Conduct.CHEATS:
        contract["checks"] = [one for one in contract["checks"] if one["kind"] == "file_exists"]
        contract["claims"][0]["checks"] = [one["id"] for one in contract["checks"]]
    return f"printf %s {shlex.quote(json.dumps(contract))} > {CONTRACT_PATH}"


def _run(command: str) -> dict[str, Any]:
    return {"run": {"command": command}}


def _solving(task: TaskSpec) -> str:
    """Write what the task's reference lays, and delete what it removes."""
    lines = ["true"]
    reference = task.reference
    if reference is not None and reference.files is not None:
        root = Path(reference.files)
        for path in sorted(one for one in root.rglob("*") if one.is_file()):
            place = path.relative_to(root)
            lines.append(f"mkdir -p {shlex.quote(str(place.parent))}")
            lines.append(f"printf %s {shlex.quote(path.read_text())} > {shlex.quote(str(place))}")
    lines += [f"rm -f {shlex.quote(path)}" for path in (reference.removes if reference else ())]
    return " && ".join(lines)


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a history."""

    ruling: str
    summary: str
    cells: int
    took_s: float


def run(name: str, place: Path, slots: int, pilot: int | None) -> Ran:
    """Run one history, whole or the first tasks of it with one trial each, in a new folder at `place`."""
    repository = place / "sweep"
    repository.mkdir(parents=True)
    with a_desk(repository) as desk, serving(script(HISTORIES[name])) as provider:
        (place / "providers.yaml").write_text(json.dumps({"scripted": {"wires": ["anthropic"], "url": provider.url}}))
        farm = Farm(desk, {"FARM_PROVIDERS": str(place / "providers.yaml")})
        _push(farm, place / "upstream.git")
        began = time.monotonic()
        cut = () if pilot is None else ("--max-tasks", str(pilot), "--trials", "1")
        words = ("--slots", str(slots), "--lock", "sweep.lock", "--confirm-cost", *cut)
        farm.run("run", "sweep.yaml", *words, codes=_DECIDED)
        took_s = time.monotonic() - began
        (place / "asked.jsonl").write_text("".join(f"{one.line()}\n" for one in provider.requests))
        (sweep,) = (repository / ".farm/store/sweeps").iterdir()
        farm.run("verify", sweep.name)
    shutil.copytree(sweep / "report", place / "report")
    verdict = json.loads((sweep / "verdicts/reliability.json").read_text())
    cells = sum(1 for _ in (sweep / "results").iterdir())
    return Ran(verdict["findings"].get("ruling", verdict["decision"]), verdict["summary"], cells, took_s)


@dataclass(frozen=True, slots=True)
class Farm:
    """The command, at its desk."""

    desk: Desk
    settings: Mapping[str, str]

    def run(self, *words: str, codes: Collection[int] = (0,)) -> None:
        """Run it to its end; any other exit code ends the bench, with what it said."""
        ran = subprocess.run(  # noqa: S603 (the command that is measured)
            (str(FARM), *words),
            cwd=self.desk.here,
            env=self.desk.env(self.settings),
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
        )
        if ran.returncode not in codes:
            sys.exit(f"farm {words[0]} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")


def _push(farm: Farm, upstream: Path) -> None:
    """Lock the sweep, commit both, and push them to a repository beside."""
    here = farm.desk.here
    (here / "sweep.yaml").write_text(_SWEEP)
    (here / "prices.yaml").write_text(_PRICES)
    (here / ".gitignore").write_text(".farm/\n")
    farm.run("lock", "sweep.yaml", "--statement", "A governor makes claims reliable.", "-o", "sweep.lock")
    committed(here)
    beside = str(upstream)
    for step in (
        ("init", "-q", "--bare", beside),
        ("remote", "add", "origin", beside),
        ("push", "-q", "-u", "origin", "main"),
    ):
        subprocess.run(("git", *step), cwd=here, check=True, capture_output=True)  # noqa: S603, S607 (as a person would)


def main() -> int:
    """Run the histories that are named, or all; give 1 when the gate says another thing of one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("histories", nargs="*", metavar="HISTORY", help=", ".join(HISTORIES))
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--pilot", type=int, metavar="N", help="Run the first N tasks alone, with one trial each.")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="Leave everything there; it must be new.")
    options = parser.parse_args()
    unknown = sorted(set(options.histories) - set(HISTORIES))
    if unknown:
        parser.error(f"there is no history {unknown[0]!r}; there are {', '.join(HISTORIES)}")
    wrong, cells = 0, len(Part) * (len(TASKS) * TRIALS if options.pilot is None else options.pilot)
    with tempfile.TemporaryDirectory(prefix="live-offline-") as scratch:
        place = options.keep or Path(scratch)
        for name in options.histories or HISTORIES:
            ran = run(name, place / name.lower(), options.slots, options.pilot)
            is_so = (ran.ruling, ran.cells) == (name, cells)
            wrong += not is_so
            print(f"{'ok  ' if is_so else 'FAIL'} {name}: {ran.summary} ({ran.cells} cells in {ran.took_s:.0f} s)")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
