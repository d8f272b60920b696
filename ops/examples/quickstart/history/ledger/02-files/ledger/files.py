"""Reading a ledger file."""

from ledger.entry import parse


def read(path):
    """Read all entries in the order of the file; raise ValueError with path and line number."""
    entries = []
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip() or line.startswith("#"):
                continue
            try:
                entries.append(parse(line))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    return entries
