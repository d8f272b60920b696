"""`farm`: one verb a module, loaded when it is used, so that help is quick.

Here alone an error becomes an exit code.
"""

import importlib
import sys
import traceback

import click
from typing_extensions import override

from farm.cli import codes
from farm.cli.uncollected import uncollected
from farm.cli.verbs import VERBS
from farm.errors import FarmError, SpecError
from farm.version import __version__

_WARNING = 30
"""logging.WARNING, without the import."""


class VerbGroup(click.Group):
    """A group whose commands are modules of farm.cli."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    @override
    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        with uncollected():
            importlib.import_module("farm.telemetry").configure(json=not sys.stderr.isatty(), level=_WARNING)
            command = importlib.import_module(f"farm.cli.{cmd_name}").command
        assert isinstance(command, click.Command)  # noqa: S101 (each verb's module defines one)
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(VERBS.items()))


@click.group(
    cls=VerbGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 complete and passed; 1 a gate failed; 2 something must be changed; 3 try again later; "
    "4 integrity; 5 inconclusive or incomplete; 6 open, resume goes on; 7 the breaker tripped; 70 a bug of the farm; "
    "130 interrupted; 141 nobody read the output.",
)
@click.version_option(__version__, prog_name="farm")
def farm() -> None:
    """Run paired benchmark sweeps of coding agents: nothing lost, nothing counted twice.

    \b
    Example:  farm init demo && farm run demo/sweep.yaml
    """  # noqa: D301 (click's mark for a verbatim paragraph)


def _named(error: OSError) -> str:
    """Say what could not be done with which file."""
    return f"{error.filename}: {error.strerror}" if error.filename else str(error)


def main() -> None:
    """Run the command line and exit with the code that says what happened."""
    stdout = sys.stdout
    try:
        code = farm.main(standalone_mode=False)
    except click.exceptions.Exit as ending:
        code = ending.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except FarmError as error:
        click.echo(f"farm: {error}", err=True)
        for note in getattr(error, "__notes__", ()):
            click.echo(f"  {note}", err=True)
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        code = codes.INTERRUPTED
    except SystemExit:
        if sys.stdout is stdout:
            raise
        code = codes.PIPE_CLOSED  # click's answer to a pipe that nobody reads: another stdout, a failed gate's code
    except OSError as error:
        click.echo(f"farm: {_named(error)}; see to the path, its rights and the disk's space", err=True)
        code = SpecError.exit_code
    except Exception:  # noqa: BLE001 (a bug must not end with the code of a failed gate: ops/adr/0012)
        traceback.print_exc()
        code = codes.BUG
    sys.exit(code if isinstance(code, int) else 0)
