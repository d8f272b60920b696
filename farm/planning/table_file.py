"""Read a small YAML file that a sweep file names."""

from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from farm.errors import SpecError
from farm.model import MIB
from farm.planning import complaints, yaml_tree
from farm.planning.folder import read_file
from farm.planning.problems import Places

MOST_TABLE_BYTES = 1 * MIB

T = TypeVar("T", bound=BaseModel)


def read_table(path: Path, kind: type[T], what: str) -> T:
    """Read a `kind` from `path`; raise SpecError naming the file, the line and the field."""
    try:
        tree = yaml_tree.parse(read_file(path, MOST_TABLE_BYTES).decode())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise SpecError(f"{what} {path} is not YAML: {' '.join(str(error).split())}") from None
    except yaml_tree.TreeError as error:
        raise Places(str(path), {error.problem.loc: error.line}).error([error.problem]) from None
    places = Places(str(path), tree.lines)
    try:
        return kind.model_validate(tree.value)
    except ValidationError as error:
        raise places.error(complaints.problems(error, places.lines, kind)) from None
