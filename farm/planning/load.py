"""Read a sweep file: YAML to a SweepSpec, where every complaint names file, line, field, value and the nearest name."""

from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import ValidationError

from farm.errors import SpecError
from farm.model import MIB, SweepSpec
from farm.planning import complaints, yaml_tree
from farm.planning.problems import Places

MOST_SPEC_BYTES = 16 * MIB


@dataclass(frozen=True, slots=True)
class SpecFile:
    """A sweep file as read: what it says and where it says it."""

    spec: SweepSpec
    places: Places


def read_spec(path: Path) -> SpecFile:
    """Read a sweep file; raise SpecError, in one message, for all that is wrong with it as a text."""
    tree = _parse(path, _text(path))
    places = Places(str(path), tree.lines)
    if tree.value is None:
        raise SpecError(f"{path}: the file is empty; a sweep file needs name, tasks and arms (`farm init` writes one)")
    if not isinstance(tree.value, dict):
        raise SpecError(f"{path}:1: the top of a sweep file is fields such as `name:`, not a {_shape(tree.value)}")
    try:
        return SpecFile(SweepSpec.model_validate(tree.value), places)
    except ValidationError as error:
        raise places.error(complaints.problems(error, places.lines)) from None


def _text(path: Path) -> str:
    try:
        size = path.stat().st_size
        if size > MOST_SPEC_BYTES:
            raise SpecError(
                f"{path}: a sweep file of {size} bytes is above {MOST_SPEC_BYTES}; move long texts to files"
            )
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise SpecError(f"{path}: there is no such sweep file; check the path, or write one with `farm init`") from None
    except IsADirectoryError:
        raise SpecError(f"{path}: is a folder; name the sweep file in it") from None
    except UnicodeDecodeError as error:
        raise SpecError(f"{path}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise SpecError(f"{path}: can't be read: {error.strerror}") from None
    return text.removeprefix("\ufeff")


def _parse(path: Path, text: str) -> yaml_tree.Tree:
    try:
        return yaml_tree.parse(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        tab = "; indent with spaces, never with tabs" if mark and _has_tab(text, mark.line) else ""
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise SpecError(f"{place}: is not valid YAML: {said}{tab}") from None
    except yaml.YAMLError as error:
        raise SpecError(f"{path}: is not valid YAML: {error}") from None
    except yaml_tree.TreeError as error:
        raise Places(str(path), {error.problem.loc: error.line}).error([error.problem]) from None
    except RecursionError:
        raise SpecError(f"{path}: is nested too deeply for a sweep file") from None


def _has_tab(text: str, line: int) -> bool:
    lines = text.splitlines()
    return line < len(lines) and "\t" in lines[line][: len(lines[line]) - len(lines[line].lstrip())]


def _shape(value: object) -> str:
    match value:
        case list():
            return "list"
        case str():
            return "text"
        case _:
            return "single value"
