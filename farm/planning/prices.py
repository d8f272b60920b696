"""Read a price table, and keep it as canonical JSON: the same prices have the same digest.

models:
  claude-opus-5-5: {input: 4, output: 20, cache_read: 0.20, cache_write: 5}
"""

from pathlib import Path

import yaml
from pydantic import ValidationError

from farm.errors import SpecError
from farm.model import MIB, PriceTable, canonical_json
from farm.planning import complaints, yaml_tree
from farm.planning.folder import read_file
from farm.planning.problems import Places

MOST_PRICES_BYTES = 1 * MIB


def read_prices(path: Path) -> bytes:
    """Give the table at `path` in its pinned form; raise SpecError naming the file, the line and the field."""
    try:
        tree = yaml_tree.parse(read_file(path, MOST_PRICES_BYTES).decode())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise SpecError(f"the price table {path} is not YAML: {' '.join(str(error).split())}") from None
    except yaml_tree.TreeError as error:
        raise Places(str(path), {error.problem.loc: error.line}).error([error.problem]) from None
    places = Places(str(path), tree.lines)
    try:
        return canonical_json(PriceTable.model_validate(tree.value))
    except ValidationError as error:
        raise places.error(complaints.problems(error, places.lines, PriceTable)) from None
