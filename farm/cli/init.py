"""farm init."""

import shutil
import subprocess
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from farm.errors import SpecError

_GIT_LIMIT_S = 30


def _lay(source: Traversable, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _lay(entry, target / entry.name)
        elif not entry.name.endswith(".pyc"):
            (target / entry.name).write_bytes(entry.read_bytes())


def _commit(repository: Path) -> None:
    who = ["-c", "user.name=Starter", "-c", "user.email=starter@example.invalid", "-c", "commit.gpgsign=false"]
    steps = (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-q", "-m", "median and its test"])
    for step in steps:
        try:
            subprocess.run(["git", *step], cwd=repository, check=True, capture_output=True, timeout=_GIT_LIMIT_S)  # noqa: S603, S607 (git by name, as every user of it)
        except (OSError, subprocess.SubprocessError) as error:
            raise SpecError(f"git {step[0]} failed in {repository}: {error}") from error


@click.command(name="init", epilog="Example:  farm init demo && farm run demo/sweep.yaml")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Make FOLDER with a small sweep that runs as it is: a repository, a prompt, a hidden oracle, two arms."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError(f"{folder} exists and is not an empty folder; name a new one")
    if shutil.which("git") is None:
        raise SpecError("git is not installed; install it (on Debian and Ubuntu: apt-get install git)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _lay(resources.files("farm.cli").joinpath("starter"), folder)
    _commit(folder / "repository")
    click.echo(f"{folder}/sweep.yaml is ready. Next:  farm run {folder}/sweep.yaml")
