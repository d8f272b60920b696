"""What a program's sessions are told: a person's texts, with marks filled, and the sentences that belong to each."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from farm.errors import SpecError
from farm.model import KIB, RelativePath, Value
from worker.phases import Demand

MOST_TEXT = 64 * KIB

Text = Annotated[str, StringConstraints(min_length=1, max_length=MOST_TEXT)]
"""A text with marks: {prompt}, {plan}, {artifact}."""
ToolName = Annotated[str, StringConstraints(min_length=1, max_length=600)]
SkillName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]

FOREGROUND = (
    "Run every check in the foreground and wait for its end before you answer: this session has no later turn in "
    "which work in the background could report."
)


class Telling(Value):
    """What one phase's session is told, may use and must use."""

    prompt: Text
    skill: SkillName | None = None
    """Named to the session; one that did not use it with success is `skill-not-invoked`."""
    denied_tools: Annotated[tuple[ToolName, ...], Field(max_length=100)] = ()
    """Besides those that the agent's own options deny."""
    note: Text | None = None
    """Put at the end of what the session is told."""

    @property
    def demand(self) -> Demand:
        return Demand(self.denied_tools, self.skill)

    def told(self, marks: Mapping[str, str], *sentences: str) -> str:
        """Fill the prompt's marks and put the sentences, and the note, behind it."""
        named = () if self.skill is None else (f"Use the skill `{self.skill}` for this.",)
        parts = (filled(self.prompt, marks), *named, *sentences, *(() if self.note is None else (self.note,)))
        return "\n\n".join(parts)


class Untouched(Value):
    """What stays as it is, whatever a session does."""

    may_not_change: Annotated[tuple[RelativePath, ...], Field(max_length=100)] = ()
    """Globs; a skill under test that stands in the workspace, for example."""


def filled(text: str, marks: Mapping[str, str]) -> str:
    """Put the marks' texts in their places, in one pass: a text that holds a mark is not filled again."""
    for mark, content in marks.items():
        before, found, after = text.partition(mark)
        if found:
            return f"{filled(before, marks)}{content}{filled(after, marks)}"
    return text


def ensure_marked(text: str, mark: str, whose: str) -> None:
    """Raise SpecError for a text without `mark`: its session would never learn what it is about."""
    if mark not in text:
        raise SpecError(f"the {whose} holds no {mark}; write where its session reads that")
