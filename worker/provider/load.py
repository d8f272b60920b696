"""A script's file."""

from pathlib import Path

import yaml
from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from farm.errors import SpecError
from worker.provider.script import Script

_MOST_SHOWN = 80


def load(path: Path) -> Script:
    """Read and check a script; raises SpecError that names the place."""
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"the script {path} can't be read: {error}") from error
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f" in line {error.problem_mark.line + 1}"
        raise SpecError(f"the script {path} is not YAML{line}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise SpecError(f"the script {path} is not YAML: {error}") from error
    try:
        return Script.model_validate(document)
    except ValidationError as error:
        raise SpecError(f"the script {path}: {_said(error.errors()[0])}") from error


def _said(detail: ErrorDetails) -> str:
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
    given: JsonValue = detail["input"]
    shown = repr(given)
    what = detail["msg"] if len(shown) > _MOST_SHOWN else f"{detail['msg']}, not {shown}"
    return f"{place or 'its top'}: {what}"
