"""Which rule a request meets, and what it is answered."""

import fnmatch
from dataclasses import dataclass

from worker.provider.asked import Asked, Speaker
from worker.provider.script import Reply, Rule, Script, When

_MOST_SHOWN = 120


@dataclass(frozen=True, slots=True)
class Choice:
    """The reply, and the name of its rule."""

    rule: str
    reply: Reply


class Rules:
    """A script's rules, and how often those with a `times` were met."""

    def __init__(self, script: Script) -> None:
        self._rules = script.rules
        self._met = [0] * len(script.rules)

    def choose(self, asked: Asked) -> Choice | None:
        """Take the first rule that applies, and count it."""
        for index, rule in enumerate(self._rules):
            if (rule.times is None or self._met[index] < rule.times) and applies(rule.when, asked):
                self._met[index] += 1
                return Choice(rule.name or f"rules[{index}]", _reply(rule, asked.turn))
        return None


def applies(when: When, asked: Asked) -> bool:
    """Say whether a request is what `when` says."""
    prompt, instructions = asked.text_of(Speaker.USER), asked.text_of(Speaker.INSTRUCTIONS)
    return (
        all(part in prompt for part in when.prompt)
        and all(part in instructions for part in when.instructions)
        and (not when.wire or asked.wire in when.wire)
        and (not when.model or any(fnmatch.fnmatchcase(asked.model, pattern) for pattern in when.model))
        and (not when.turn or asked.turn in when.turn)
        and when.streamed in (None, asked.is_streamed)
        and when.offers_tools in (None, bool(asked.tools))
    )


def nobody_answers(asked: Asked) -> str:
    """Say for which request the script has no rule."""
    prompt = asked.text_of(Speaker.USER)
    shown = prompt if len(prompt) <= _MOST_SHOWN else f"…{prompt[-_MOST_SHOWN:]}"
    return (
        f"the script has no rule for this request: wire {asked.wire}, model {asked.model!r}, turn {asked.turn}, "
        f"{len(asked.tools)} tools, prompt {shown!r}; add one, or a last rule without `when`"
    )


def _reply(rule: Rule, turn: int) -> Reply:
    if rule.reply is not None:
        return rule.reply
    turns = rule.turns or ()
    return turns[min(turn, len(turns) - 1)]
