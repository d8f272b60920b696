"""The fold's checkpoint: which results were counted, and what they came to. It saves reading; it proves nothing.

What must stay true: it can be thrown away. The results say which cells have one; a checkpoint that does not fit them,
its plan or its own check is as good as none, and a newer one is only a shorter way.
"""

import base64
import zlib
from decimal import Decimal
from typing import Literal

from farm.model.base import Value
from farm.model.canonical import canonical_json
from farm.model.digest import Digest
from farm.model.names import Name, SweepId

_UNCHECKED = Digest("0" * 64)


class ArmCount(Value):
    """One arm's counted cells."""

    arm: Name
    done: int
    failed: int
    """Results without evidence."""
    correct: int
    cost_usd: Decimal
    """Of all attempts, as far as it is known."""
    cost_unknown: int
    """Cells whose cost is not, or not all, known."""
    attempts_of_unknown_cost: int
    tokens: int
    """Of all attempts, as far as they are known."""
    attempts_of_unknown_tokens: int


class Checkpoint(Value):
    """checkpoints/<part>/<n>.json: written by a coordinator now and then."""

    schema_version: Literal[1] = 1
    sweep: SweepId
    plan: Digest
    done: str
    """The cells whose results are counted: bits by index, packed."""
    failed: str
    """Those of them without evidence that can be read as an answer."""
    retried: str
    """Those of them that took more than one attempt."""
    arms: tuple[ArmCount, ...]
    check: Digest = _UNCHECKED
    """Of all the rest."""

    @property
    def is_whole(self) -> bool:
        """Say whether it is as it was written."""
        return self.check == self._digest()

    def checked(self) -> "Checkpoint":
        """Copy with the check that its content gives."""
        return self.model_copy(update={"check": self._digest()})

    def _digest(self) -> Digest:
        return Digest.of(canonical_json(self.model_copy(update={"check": _UNCHECKED})))


def pack(bits: int) -> str:
    """Write bits as text: short, since nearly all of them are equal."""
    return base64.b64encode(zlib.compress(bits.to_bytes((bits.bit_length() + 7) // 8, "little"))).decode()


def unpack(text: str) -> int:
    """Read bits; raise ValueError for what `pack` does not write."""
    try:
        return int.from_bytes(zlib.decompress(base64.b64decode(text, validate=True)), "little")
    except zlib.error as error:
        raise ValueError(f"these are no packed bits: {error}") from error
