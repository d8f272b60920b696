"""Shards: parts of one plan that are coordinated in different places and meet in one store."""

import re
from datetime import datetime
from typing import Annotated

from pydantic import Field, model_validator
from typing_extensions import override

from farm.model.base import Value
from farm.model.names import SweepId
from farm.model.plan import Plan
from farm.model.result import CloseReason

_TEXT = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})")


class Shard(Value):
    """The `number`-th (from 1) of `of` parts; whole blocks, dealt in turn, so that what is paired stays together."""

    number: Annotated[int, Field(ge=1)]
    of: Annotated[int, Field(ge=2)]

    @model_validator(mode="after")
    def _is_one_of_them(self) -> "Shard":
        if self.number > self.of:
            raise ValueError(f"there is no shard {self.number} of {self.of}")
        return self

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read `2/4`; raise ValueError that says what is wrong."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no shard: write 2/4 for the second of four")
        number, of = int(found[1]), int(found[2])
        if of == 1 or number > of:
            raise ValueError(f"{text!r} is no shard: of N shards, at least 2, name one from 1 to N")
        return cls(number=number, of=of)

    @override
    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def cells(self, plan: Plan) -> frozenset[int]:
        """List the shard's cells, as indices in plan order."""
        blocks = dict[tuple[str, int], int]()
        for cell in plan.cells:
            blocks.setdefault((cell.task, cell.trial), len(blocks))
        return frozenset(
            index for index, cell in enumerate(plan.cells) if blocks[cell.task, cell.trial] % self.of == self.number - 1
        )


def shards(of: int) -> tuple[Shard, ...]:
    """List the shards of a sweep that was opened in `of`; none where it is one piece."""
    return tuple(Shard(number=number, of=of) for number in range(1, of + 1)) if of > 1 else ()


class ShardOpening(Value):
    """shards/<number>/open.json: when the shard was submitted."""

    sweep: SweepId
    shard: Shard
    opened_at: datetime
    submitted_by: str


class ShardClose(Value):
    """shards/<number>/close.json: the shard's coordinator sends nothing more."""

    sweep: SweepId
    shard: Shard
    reason: CloseReason
    detail: str = ""
    closed_at: datetime
