"""Whether a person has drained this host: known from orders, and kept in the work root.

So a host stays drained when its worker starts again, and when Redis has lost the order.
"""

import os
from pathlib import Path

import structlog

from farm.errors import IntegrityError, SpecError
from farm.model import DrainKind, DrainOrder, Value, canonical_json, parse_record

_log = structlog.get_logger()

_NAME = "drain.json"
_MOST_OBEYED = 50


class _Kept(Value):
    """The last order, and the ids of those before it."""

    last: DrainOrder
    obeyed: tuple[str, ...]


class Drain:
    """The order that this host obeys."""

    def __init__(self, root: Path | None) -> None:
        """Read what was kept below `root`; raise SpecError when it can't be read: the host may be drained.

        None keeps nothing.
        """
        self._path = None if root is None else root / _NAME
        self._kept = None if self._path is None else _read(self._path)

    @property
    def order(self) -> DrainOrder | None:
        """The last order that was obeyed; None: there never was one."""
        return None if self._kept is None else self._kept.last

    @property
    def is_drained(self) -> bool:
        return self.order is not None and self.order.kind is not DrainKind.UNDRAIN

    @property
    def stops_cells(self) -> bool:
        return self.order is not None and self.order.kind is DrainKind.NOW

    def obey(self, order: DrainOrder | None) -> bool:
        """Follow the order, and say whether it is news; no order means: stay as you are."""
        before = () if self._kept is None else (*self._kept.obeyed, self._kept.last.id)
        if order is None or order.id in before:
            return False
        self._kept = _Kept(last=order, obeyed=before[-_MOST_OBEYED:])
        _log.warning("order.obeyed", order=order.kind, by=order.by)
        if self._path is not None:
            _try_to_keep(self._path, canonical_json(self._kept))
        return True


def _read(path: Path) -> _Kept | None:
    try:
        return parse_record(_Kept, path.read_bytes(), str(path))
    except FileNotFoundError:
        return None
    except (OSError, IntegrityError) as error:
        raise SpecError(f"{path} says whether this host is drained, and can't be read ({error}); remove it") from error


def _try_to_keep(path: Path, body: bytes) -> None:
    draft = path.with_suffix(f".{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:  # a full disk is a good reason to drain a host
        _log.error("order.unkept", path=str(path), problem=str(error))
