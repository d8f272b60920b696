"""farm init."""

import shutil
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

import click

from farm.errors import SpecError
from farm.planning.git import run_git


def _lay(source: Traversable, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _lay(entry, target / entry.name)
        elif not entry.name.endswith(".pyc"):
            (target / entry.name).write_bytes(entry.read_bytes())


def _commit(repository: Path) -> None:
    who = ("-c", "user.name=Starter", "-c", "user.email=starter@example.invalid")
    for step in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "median and its test")):
        run_git(repository, *step)


@click.command(name="init", epilog="Example:  farm init demo && farm run demo/sweep.yaml")
@click.argument("folder", type=click.Path(path_type=Path))
def command(folder: Path) -> None:
    """Make FOLDER with a small sweep that runs as it is: a repository, a prompt, a hidden oracle, two arms."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SpecError(f"{folder} exists and is not an empty folder; name a new one")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _lay(resources.files("farm.cli").joinpath("starter"), folder)
    try:
        _commit(folder / "repository")
    except SpecError as error:
        shutil.rmtree(folder)
        raise SpecError(f"{folder} was not made: {error}") from error
    click.echo(f"{folder}/sweep.yaml is ready. Next:  farm run {folder}/sweep.yaml")
