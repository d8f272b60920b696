"""Native usage of one model request in one normal form, whatever wire it came by.

What must stay true: a derived number exists only when every number that it is derived from was stated; unknown is
never zero; and numbers that contradict each other are refused, not repaired.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from farm.errors import IntegrityError, SpecError
from farm.model.base import Value

Count = Annotated[int, Field(strict=True, ge=0)]


class UsageShape(StrEnum):
    """The form in which a usage object counts."""

    ANTHROPIC = "anthropic"
    """Anthropic Messages: three disjoint parts of the input, no whole."""
    RESPONSES = "openai_responses"
    """OpenAI Responses: a whole, and parts of it."""
    CHAT = "openai_chat"
    """OpenAI Chat Completions: a whole, and the part that was read from the cache; writes are not told apart."""
    GEMINI = "gemini"
    """Gemini: a whole, the part that was read from the cache, thoughts beside the candidates."""
    LITELLM = "litellm"
    """What a LiteLLM callback gets, whichever provider was behind it."""


class TokenUse(Value):
    """The tokens of one request or of a sum of them. None: unknown."""

    whole: Count | None = None
    """All input: ordinary, read from the cache, written to it."""
    ordinary_input: Count | None = None
    cache_read: Count | None = None
    cache_write: Count | None = None
    cache_write_1h: Count | None = None
    """The part of `cache_write` that is kept for an hour, at a price of its own."""
    output: Count | None = None
    reasoning: Count | None = None
    """A part of `output`."""

    @property
    def is_complete(self) -> bool:
        """Say whether the five numbers that a price is computed from are known."""
        return None not in (self.whole, self.ordinary_input, self.cache_read, self.cache_write, self.output)

    @property
    def total(self) -> int | None:
        """Input and output together."""
        return None if self.whole is None or self.output is None else self.whole + self.output

    def plus(self, other: "TokenUse") -> "TokenUse":
        """Add, number by number; what one of the two does not know, the sum does not know."""
        return TokenUse(**{name: _sum(getattr(self, name), getattr(other, name)) for name in TokenUse.model_fields})


NO_TOKENS = TokenUse(**dict.fromkeys(TokenUse.model_fields, 0))
"""What no request at all used: a sum's beginning."""


def normalise(shape: UsageShape, usage: JsonValue) -> TokenUse:
    """Read a native usage object; what it does not state, or states as anything but a whole number, is unknown.

    Raises IntegrityError when parts are more than their whole, or a stated total is not the sum that it must be.
    """
    stated = usage if isinstance(usage, dict) else {}
    return _READERS[shape](stated)


def shape_of_label(label: str | None) -> UsageShape:
    """Give the shape of what a LiteLLM callback got for a provider's label; SpecError for a label that is not known."""
    match label:
        case "openai":
            return UsageShape.LITELLM
        case "anthropic":
            return UsageShape.ANTHROPIC
        case _:
            raise SpecError(
                f"usage from the provider label {label!r}: known are 'openai' and 'anthropic'; add a rule for it"
            )


def _anthropic(stated: Mapping[str, JsonValue]) -> TokenUse:
    _ensure_one_answer(stated)
    ordinary, read, write = (
        _count(stated, name) for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    hour = _count(_details(stated, "cache_creation"), "ephemeral_1h_input_tokens")
    if hour is not None and write is not None and hour > write:
        raise IntegrityError(f"usage: cache_creation.ephemeral_1h_input_tokens is {hour}, above the whole of {write}")
    return TokenUse(
        whole=_sum(_sum(ordinary, read), write),
        ordinary_input=ordinary,
        cache_read=read,
        cache_write=write,
        cache_write_1h=hour,
        output=_count(stated, "output_tokens"),
    )


def _ensure_one_answer(stated: Mapping[str, JsonValue]) -> None:
    """Raise for usage whose numbers leave out a part: of several iterations they count the answer's own alone."""
    iterations = stated.get("iterations")
    if not isinstance(iterations, list):
        return
    kinds = [one.get("type") if isinstance(one, dict) else None for one in iterations]
    if kinds not in ([], ["message"]):
        raise IntegrityError(f"usage: iterations of the kinds {kinds} are counted apart, and can't be summed")


def _responses(stated: Mapping[str, JsonValue]) -> TokenUse:
    details = _details(stated, "input_tokens_details")
    use = _of_whole(
        whole=_count(stated, "input_tokens"),
        read=_count(details, "cached_tokens"),
        write=_count(details, "cache_write_tokens"),
        output=_count(stated, "output_tokens"),
        reasoning=_count(_details(stated, "output_tokens_details"), "reasoning_tokens"),
    )
    _ensure_total(stated, "total_tokens", use.total)
    return use


def _chat(stated: Mapping[str, JsonValue]) -> TokenUse:
    use = _of_whole(
        whole=_count(stated, "prompt_tokens"),
        read=_count(_details(stated, "prompt_tokens_details"), "cached_tokens"),
        write=0,  # this wire has no cache writes: they are ordinary input, at its price
        output=_count(stated, "completion_tokens"),
        reasoning=_count(_details(stated, "completion_tokens_details"), "reasoning_tokens"),
    )
    _ensure_total(stated, "total_tokens", use.total)
    return use


def _gemini(stated: Mapping[str, JsonValue]) -> TokenUse:
    thoughts, candidates = _count(stated, "thoughtsTokenCount"), _count(stated, "candidatesTokenCount")
    use = _of_whole(
        whole=_sum(_count(stated, "promptTokenCount"), _count(stated, "toolUsePromptTokenCount", absent=0)),
        read=_count(stated, "cachedContentTokenCount"),
        write=0,  # nor has this one
        output=_sum(candidates, _count(stated, "thoughtsTokenCount", absent=0)),
        reasoning=thoughts,
    )
    _ensure_total(stated, "totalTokenCount", use.total)
    return use


def _litellm(stated: Mapping[str, JsonValue]) -> TokenUse:
    details = _details(stated, "prompt_tokens_details")
    written = "cache_write_tokens" if "cache_write_tokens" in details else "cache_creation_tokens"
    return _of_whole(
        whole=_count(stated, "prompt_tokens"),
        read=_count(details, "cached_tokens"),
        write=_count(details, written),
        output=_count(stated, "completion_tokens"),
        reasoning=_count(_details(stated, "completion_tokens_details"), "reasoning_tokens"),
    )


_READERS: dict[UsageShape, Callable[[Mapping[str, JsonValue]], TokenUse]] = {
    UsageShape.ANTHROPIC: _anthropic,
    UsageShape.RESPONSES: _responses,
    UsageShape.CHAT: _chat,
    UsageShape.GEMINI: _gemini,
    UsageShape.LITELLM: _litellm,
}


def _of_whole(
    *, whole: int | None, read: int | None, write: int | None, output: int | None, reasoning: int | None
) -> TokenUse:
    parts = (read or 0) + (write or 0)
    if whole is not None and parts > whole:
        raise IntegrityError(
            f"usage: {read} tokens read from the cache and {write} written exceed the whole of {whole}"
        )
    if output is not None and reasoning is not None and reasoning > output:
        raise IntegrityError(f"usage: {reasoning} tokens of reasoning exceed the output of {output}")
    known = whole is not None and read is not None and write is not None
    return TokenUse(
        whole=whole,
        ordinary_input=whole - parts if known and whole is not None else None,
        cache_read=read,
        cache_write=write,
        output=output,
        reasoning=reasoning,
    )


def _ensure_total(stated: Mapping[str, JsonValue], name: str, total: int | None) -> None:
    said = _count(stated, name)
    if said is not None and total is not None and said != total:
        raise IntegrityError(f"usage: {name} is {said}, but its parts sum up to {total}")


def _details(stated: Mapping[str, JsonValue], name: str) -> Mapping[str, JsonValue]:
    found = stated.get(name)
    return found if isinstance(found, dict) else {}


def _count(stated: Mapping[str, JsonValue], name: str, absent: int | None = None) -> int | None:
    """Give a stated whole number; `absent` where the wire leaves out what is zero."""
    found = stated.get(name, absent)
    return found if type(found) is int and found >= 0 else None


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
