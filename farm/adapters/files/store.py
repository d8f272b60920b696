"""Blobs and records in one folder."""

import secrets
from contextlib import suppress
from pathlib import Path

from farm.adapters.files.blobs import FileBlobs
from farm.adapters.files.records import FileRecords
from farm.adapters.files.writing import Spool, answering, link_new
from farm.errors import SpecError


class FileStore:
    """A store below `root`, an absolute path."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._spool = Spool(root / "tmp")
        self.blobs = FileBlobs(root, self._spool)
        self.records = FileRecords(root, self._spool)

    @property
    def url(self) -> str:
        return self._root.as_uri()

    def check(self) -> None:
        """Create one probe file twice; the second time must be refused and leave the first one's bytes.

        Folders that only the probe needed are gone afterwards.
        """
        probe = self._root / "probes" / secrets.token_hex(8)
        places = (probe.parent, self._root / "tmp", self._root, self._root.parent)
        made = [folder for folder in places if not folder.exists()]
        with answering(self._root):
            try:
                created = link_new(self._spool.write((b"first\n",)), probe)
                again = link_new(self._spool.write((b"second\n",)), probe)
                if not created or again or probe.read_bytes() != b"first\n":
                    raise SpecError(f"the store's folder {self._root} does not create files exclusively; use another")
            finally:
                probe.unlink(missing_ok=True)
                for folder in made:
                    with suppress(OSError):  # somebody else has put something there meanwhile
                        folder.rmdir()
