"""A store in a folder: `file:///absolute/path`."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from farm.adapters.files.store import FileStore
from farm.errors import SpecError
from farm.ports import StoreAccess

__all__ = ["FileStore", "open_store"]


def _is_plain(path: Path) -> bool:
    return path.is_absolute() and ".." not in path.parts and "\0" not in str(path)


def open_store(url: str, access: StoreAccess) -> FileStore:  # noqa: ARG001 (every opener of the group has this form)
    """Open the store at `url`; the folder is made by the first write."""
    parts = urlsplit(url)
    path = Path(unquote(parts.path))
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"} or not _is_plain(path):
        raise SpecError(f"store URL {url!r} is not a folder's; write file:// and an absolute path: file:///srv/farm")
    return FileStore(path)
