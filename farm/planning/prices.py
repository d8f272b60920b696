"""Read a price table, and keep it as canonical JSON: the same prices have the same digest.

models:
  claude-opus-5-5: {input: 4, output: 20, cache_read: 0.20, cache_write: 5}
"""

from pathlib import Path

from farm.model import PriceTable, canonical_json
from farm.planning.table_file import read_table


def read_prices(path: Path) -> bytes:
    """Give the table at `path` in its pinned form; raise SpecError naming the file, the line and the field."""
    return canonical_json(read_table(path, PriceTable, "the price table"))
