"""What a slot holds before its first cell."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_TRIES = """
import json, os
from pathlib import Path
from worker import bootstrap
from worker.health.fitness import Fitness
from worker.health.shutdown import ShutdownFlag

def held():
    return [len(os.listdir("/proc/self/fd")), Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]

flag, fitness, seen = ShutdownFlag(), Fitness(), []
numbers = bootstrap.read_settings().root / "slots"
for _ in range(3):
    try:
        bootstrap.make_line(flag, fitness)
    except FileExistsError as error:
        assert error.filename.endswith("/cells"), error
        seen.append([*held(), sorted(os.listdir(numbers))])
print(json.dumps(seen))
"""


@pytest.mark.usefixtures("bubblewrap")
def test_a_line_that_can_not_be_made_again_and_again_leaves_nothing(tmp_path: Path, work_root: Path) -> None:
    root = work_root / "no-room"
    root.mkdir(mode=0o711)
    (root / "cells").touch()
    environment = {"PATH": os.environ["PATH"], "FARM_REDIS_URL": "redis://127.0.0.1:1/0", "FARM_WORK_ROOT": str(root)}  # noqa: TID251 (tests have no settings)
    done = subprocess.run(
        [sys.executable, "-c", _TRIES],
        env=environment | {"FARM_STORE": (tmp_path / "store").as_uri(), "FARM_HOST_ID": "host-1"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    first, second, third = json.loads(done.stdout)
    assert first == second == third
    assert first[1:] == [[], ["0"]]


def test_a_host_offers_the_agents_programs_that_say_they_are_what_their_folder_is(tmp_path: Path) -> None:
    for version, says in (("1.2.3", "an-agent 1.2.3"), ("1.2.4", "an-agent 1.2.3")):
        place = tmp_path / "an-agent" / version
        place.mkdir(parents=True)
        (place / "agent").write_text(f"#!/bin/sh\necho '{says}'\n")
        (place / "agent").chmod(0o755)
        (place / ".installed").write_text("agent sha512-x")
    done = subprocess.run(
        [sys.executable, "-c", "from worker import bootstrap; print(bootstrap.offers())"],
        env={"PATH": os.environ["PATH"], "FARM_AGENTS": str(tmp_path)},  # noqa: TID251 (tests have no settings)
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == (f"('an-agent 1.2.3', 'label arch={os.uname().machine}')\n", "")


def test_a_provider_that_is_translated_needs_the_extra(tmp_path: Path) -> None:
    (tmp_path / "providers.yaml").write_text("acme: {wires: [chat], url: 'http://127.0.0.1:9', translate: anthropic}")
    tries = "import sys; sys.modules['litellm'] = None; from worker import bootstrap; print(bootstrap.upstream('acme'))"
    done = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PATH": os.environ["PATH"], "FARM_PROVIDERS": str(tmp_path / "providers.yaml")},  # noqa: TID251 (tests have no settings)
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
        )
        for code in (tries, tries.partition("; ")[0] + "; " + tries.partition("None; ")[2])
    ]
    said = done[0].stderr.splitlines()[-1]
    assert said == (
        "farm.errors.SpecError: FARM_PROVIDERS: acme.translate needs LiteLLM; pip install 'cellfarm[litellm]', "
        "or leave it out"
    )
    assert "translated=frozenset({<Wire.ANTHROPIC: 'anthropic'>})" in done[1].stdout
