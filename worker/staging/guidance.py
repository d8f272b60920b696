"""An arm's guidance, taken out of a half-made template's instruction files."""

import stat
from pathlib import Path

from farm.errors import SpecError
from farm.model import Guidance, GuidanceError, matches_any, stripped
from worker.trees.scan import listing


def strip_guidance(draft: Path, guidance: Guidance) -> None:
    """Rewrite the regular files that the guidance's globs match; raise SpecError for one that can't be read as text.

    Links among them are left: planning saw that where they lead is rewritten, too.
    """
    for found in listing(draft):
        if not stat.S_ISREG(found.status.st_mode) or not matches_any(found.path, guidance.files):
            continue
        file = draft / found.path
        try:
            file.write_bytes(stripped(file.read_bytes().decode(), guidance).text.encode())
        except (UnicodeDecodeError, GuidanceError) as error:
            raise SpecError(f"the guidance of {found.path!r} can't be taken out: {error}") from error
