"""Help costs no import: what a verb needs is loaded when the verb is used."""

import os
import subprocess
import sys
from pathlib import Path

HEAVY = (
    "boto3",
    "celery",
    "docker",
    "farm.planning",
    "jinja2",
    "matplotlib",
    "pydantic",
    "redis",
    "rich",
    "scipy",
    "structlog",
    "yaml",
)
LOOK = f"""
import sys
from click.testing import CliRunner
from farm.cli.main import farm
shown = CliRunner().invoke(farm, ["--help"])
assert "Verbs:" in shown.output
print(*(name for name in {HEAVY!r} if name in sys.modules))
"""


def test_help_loads_nothing_that_only_a_verb_needs() -> None:
    ran = subprocess.run((sys.executable, "-c", LOOK), capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


def test_a_look_at_a_store_loads_no_client_of_a_queue_and_plans_nothing(tmp_path: Path) -> None:
    look = LOOK.replace('["--help"]', f'["status", "--store", {str(tmp_path)!r}]').replace("Verbs:", "holds no sweep")
    env = {name: value for name, value in os.environ.items() if not name.startswith("FARM_")}  # noqa: TID251 (tests have no settings)
    ran = subprocess.run((sys.executable, "-c", look), capture_output=True, text=True, check=True, env=env)
    assert {"boto3", "celery", "docker", "farm.planning", "redis", "yaml"}.isdisjoint(ran.stdout.split())
