"""The cells of a sweep, in the one order in which they run and are folded."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import assert_never

from farm.model import Cell, CellOrder, Digest

MOST_CELLS = 1_000_000


@dataclass(frozen=True, slots=True)
class Block:
    """The cells of one (task, trial): what is compared, and so is kept together in time."""

    number: int
    diagonal: int
    """The task's place in the sweep and the trial, counted together."""
    task: str
    trial: int


@dataclass(frozen=True, slots=True)
class Ordering:
    """How cells are ordered, and what that takes."""

    order: CellOrder
    seed: int = 0
    lasts_s: Callable[[Cell], float] = lambda _: 0.0
    """How long a cell is expected to last."""


def order_cells(tasks: Sequence[str], arms: Sequence[str], trials: int, ordering: Ordering) -> Iterator[Cell]:
    """Yield every (task, arm, trial) once: block by block, but for a packed order, which starts the longest first."""
    pairs = product(enumerate(tasks), range(1, trials + 1))
    blocks = [Block(number, place + trial - 1, task, trial) for number, ((place, task), trial) in enumerate(pairs)]
    match ordering.order:
        case CellOrder.TASK_MAJOR:
            yield from _written(blocks, lambda _: arms)
        case CellOrder.ROTATED:
            yield from _written(blocks, lambda block: _rotated(arms, block.number % len(arms)))
        case CellOrder.DIAGONAL:
            yield from _written(blocks, lambda block: _rotated(arms, block.diagonal % len(arms)))
        case CellOrder.SEEDED:
            mixed = sorted(blocks, key=lambda block: _draw(ordering.seed, block.task, block.trial))
            yield from _written(mixed, lambda block: _mixed(arms, ordering.seed, block))
        case CellOrder.PACKED:
            rotated = _written(blocks, lambda block: _rotated(arms, block.number % len(arms)))
            yield from sorted(rotated, key=ordering.lasts_s, reverse=True)
        case _:
            assert_never(ordering.order)


def _written(blocks: Sequence[Block], arms_of: Callable[[Block], Sequence[str]]) -> Iterator[Cell]:
    return (Cell(task=block.task, arm=arm, trial=block.trial) for block in blocks for arm in arms_of(block))


def _rotated(arms: Sequence[str], first: int) -> Sequence[str]:
    return (*arms[first:], *arms[:first])


def _mixed(arms: Sequence[str], seed: int, block: Block) -> Sequence[str]:
    return sorted(arms, key=lambda arm: _draw(seed, block.task, block.trial, arm))


def _draw(seed: int, *names: str | int) -> Digest:
    """Draw a place at random that is the same on every machine and with every version of Python."""
    return Digest.of("\0".join(map(str, (seed, *names))).encode())
