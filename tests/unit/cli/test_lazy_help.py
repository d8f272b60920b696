"""Help costs no import: what a verb needs is loaded when the verb is used."""

import subprocess
import sys

HEAVY = ("boto3", "celery", "docker", "jinja2", "matplotlib", "pydantic", "redis", "rich", "scipy", "structlog", "yaml")
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
