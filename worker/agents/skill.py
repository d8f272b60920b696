"""Proof that a session used a named skill: it was asked for, and afterwards it answered without an error."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeGuard

from pydantic import JsonValue

_MOST_ID = 200


class SkillUse(StrEnum):
    """What the stream proves."""

    SUCCEEDED = "succeeded"
    NOT_INVOKED = "not-invoked"
    """Never asked for, or every call failed."""
    UNVERIFIED = "unverified"
    """The stream contradicts itself: an id twice, an answer before its call, an error flag that is none."""


@dataclass(slots=True)
class SkillProof:
    """Pairs the calls of one skill with their answers, by the calls' ids."""

    skill: str
    _open: set[str] = field(default_factory=set)
    _seen: set[str] = field(default_factory=set)
    _answered: set[str] = field(default_factory=set)
    _succeeded: bool = False
    _contradicts: bool = False

    def call(self, call_id: JsonValue, name: JsonValue) -> None:
        """Take a call of the skill that the agent names `name`: `/skill words`, `plugin:skill` and so on."""
        if plain_name(name) != self.skill:
            return
        if not _is_id(call_id) or call_id in self._seen or call_id in self._answered:
            self._contradicts = True
            return
        self._seen.add(call_id)
        self._open.add(call_id)

    def answer(self, call_id: JsonValue, is_error: JsonValue) -> None:
        """Take the answer to any call; `is_error` None: the agent left the flag out, as it does for a success."""
        if not _is_id(call_id):
            return
        if call_id in self._seen and call_id not in self._open:
            self._contradicts = True
        self._answered.add(call_id)
        if call_id in self._open:
            self._open.discard(call_id)
            match is_error:
                case None | False:
                    self._succeeded = True
                case True:
                    pass
                case _:
                    self._contradicts = True

    @property
    def use(self) -> SkillUse:
        """Judge what was seen so far."""
        if self._contradicts:
            return SkillUse.UNVERIFIED
        return SkillUse.SUCCEEDED if self._succeeded else SkillUse.NOT_INVOKED


def plain_name(name: JsonValue) -> str | None:
    """Reduce how a skill was called to its own name: the first word, without a slash and a plug-in before it."""
    words = name.split() if isinstance(name, str) else []
    return words[0].removeprefix("/").rpartition(":")[2] if words else None


def _is_id(value: JsonValue) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value) <= _MOST_ID
