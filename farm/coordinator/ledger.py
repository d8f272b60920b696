"""The ledger: which cells are through, as bits relative to the fold.

What must stay true: every cell below `fold` is through; bit k of each mask speaks of cell `fold + k`; the masks hold
only what finished ahead of the fold. So a million cells behind one straggler cost three integers of 125 kB.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is through, and how it ended."""

    fold: int = 0
    """The first cell that is not through."""
    through: int = 0
    unusable: int = 0
    aside: int = 0
    """Cells of which the breaker learns nothing: put aside for the next run, or measured in an earlier sweep."""
    put_aside: int = 0
    """How many cells were put aside, folded ones included."""

    def has(self, index: int) -> bool:
        """Say whether the cell is through."""
        return index < self.fold or bool(self.through >> (index - self.fold) & 1)

    def note(self, index: int, *, is_usable: bool) -> "Ledger":
        """Note the cell's result; the cell must not be through."""
        bit = 1 << (index - self.fold)
        unusable = self.unusable if is_usable else self.unusable | bit
        return replace(self, through=self.through | bit, unusable=unusable)

    def take_over(self, index: int) -> "Ledger":
        """Note a result that was measured elsewhere: it says nothing of today; the cell must not be through."""
        bit = 1 << (index - self.fold)
        return replace(self, through=self.through | bit, aside=self.aside | bit)

    def skip(self, index: int) -> "Ledger":
        """Put the cell aside; it must not be through."""
        bit = 1 << (index - self.fold)
        return replace(self, through=self.through | bit, aside=self.aside | bit, put_aside=self.put_aside + 1)

    def without(self, indices: Iterable[int]) -> "Ledger":
        """Leave cells out from the start, because they are another's to run: nothing must be through yet."""
        mask = 0
        for index in indices:
            mask |= 1 << index
        return replace(self, through=mask, aside=mask).advance()

    def restore(self, done: int, unusable: int, taken_over: int = 0) -> "Ledger":
        """Note many cells at once, by bits from the first cell on."""
        return replace(
            self,
            through=self.through | done >> self.fold,
            unusable=self.unusable | unusable >> self.fold,
            aside=self.aside | (done & taken_over) >> self.fold,
        )

    def next_missing(self, index: int) -> int:
        """Return the first cell at or after `index` that is not through."""
        start = max(index, self.fold)
        return start + trailing_ones(self.through >> (start - self.fold))

    def advance(self) -> "Ledger":
        """Move the fold to the first cell that is not through."""
        step = trailing_ones(self.through)
        if step == 0:
            return self
        return replace(
            self,
            fold=self.fold + step,
            through=self.through >> step,
            unusable=self.unusable >> step,
            aside=self.aside >> step,
        )

    def foldable(self) -> Iterator[bool | None]:
        """Yield, in plan order, how the cells ended that `advance` folds: usable or not, or None: no matter."""
        step = trailing_ones(self.through)
        mask = (1 << step) - 1
        unusable, aside = self.unusable & mask, self.aside & mask
        if step <= _WORD:
            for k in range(step):
                yield None if aside >> k & 1 else not unusable >> k & 1
            return
        # one conversion to text: shifting a wide integer for every bit would be quadratic
        for bad, out in zip(reversed(f"{unusable:0{step}b}"), reversed(f"{aside:0{step}b}"), strict=True):
            yield None if out == "1" else bad == "0"

    def last_results(self) -> Iterator[int]:
        """Yield the cells with a result ahead of the fold, highest first."""
        left = self.through & ~self.aside if self.aside else self.through
        while left:
            top = left.bit_length() - 1
            yield self.fold + top
            left ^= 1 << top

    def is_unusable(self, index: int) -> bool:
        """Say whether a cell ahead of the fold has an unusable result."""
        return bool(self.unusable >> (index - self.fold) & 1)


_WORD = 64


def trailing_ones(bits: int) -> int:
    """Count the ones below the lowest zero."""
    return (bits ^ (bits + 1)).bit_length() - 1 if bits & 1 else 0


def mask_of(indices: Collection[int]) -> int:
    """Give the bits of `indices`."""
    size = max(indices, default=-1) // 8 + 1
    bits = bytearray(size)
    for index in indices:
        bits[index >> 3] |= 1 << (index & 7)
    return int.from_bytes(bits, "little")
