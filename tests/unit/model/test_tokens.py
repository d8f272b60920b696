"""Native usage in one normal form: every vector, and the laws of a sum."""

import json
from pathlib import Path
from typing import Any

import pytest

from farm.errors import IntegrityError, SpecError
from farm.model import NO_TOKENS, TokenUse, UsageShape, normalise, shape_of_label

_VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "data/usage-vectors.json").read_text())
_NAMES = {
    "whole": "whole",
    "cache_read": "cache_read",
    "cache_write": "cache_write",
    "ordinary_input": "ordinary_input",
    "output": "output",
    "reasoning": "reasoning",
    "complete": "is_complete",
}


def _shape(given: dict[str, Any]) -> UsageShape:
    return UsageShape(given["shape"]) if "shape" in given else shape_of_label(given["provider_label"])


@pytest.mark.parametrize("vector", _VECTORS, ids=lambda vector: vector["id"])
def test_a_native_usage_is_read_as_its_vector_says(vector: dict[str, Any]) -> None:
    given, expected = vector["input"], dict(vector["expected"])
    adapter = expected.pop("adapter", None)
    refused = expected.pop("refused", None)
    if refused == "unknown_provider":
        with pytest.raises(SpecError, match=repr(given["provider_label"])):
            _shape(given)
        return
    if refused == "parts_exceed_whole":
        with pytest.raises(IntegrityError, match="exceed the whole"):
            normalise(_shape(given), given["usage"])
        return
    assert adapter in {None, _shape(given).value}
    use = normalise(_shape(given), given["usage"])
    assert {name: getattr(use, _NAMES[name]) for name in expected} == expected


def test_two_requests_of_one_session_add_up_on_each_wire_alike() -> None:
    anthropic = [
        {
            "input_tokens": 3000,
            "cache_read_input_tokens": 44000,
            "cache_creation_input_tokens": 1000,
            "output_tokens": 120,
        },
        {"input_tokens": 10, "cache_read_input_tokens": 45000, "cache_creation_input_tokens": 500, "output_tokens": 30},
    ]
    responses = [_responses(48000, 44000, 1000, 120, 40), _responses(45510, 45000, 500, 30, 5)]
    first = _total(UsageShape.ANTHROPIC, anthropic)
    second = _total(UsageShape.RESPONSES, responses)
    assert first == TokenUse(
        whole=93510, ordinary_input=3010, cache_read=89000, cache_write=1500, output=150, reasoning=None
    )
    assert second == first.model_copy(update={"reasoning": 45})
    assert (first.total, second.total) == (93660, 93660)


def test_thoughts_are_output_of_gemini_and_tool_prompts_its_input() -> None:
    usage = {
        "promptTokenCount": 100,
        "toolUsePromptTokenCount": 20,
        "cachedContentTokenCount": 60,
        "candidatesTokenCount": 7,
        "thoughtsTokenCount": 5,
        "totalTokenCount": 132,
    }
    use = normalise(UsageShape.GEMINI, usage)
    assert (use.whole, use.ordinary_input, use.cache_read, use.output, use.reasoning) == (120, 60, 60, 12, 5)


def test_chat_counts_the_cached_part_and_knows_of_no_write() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "total_tokens": 109,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    use = normalise(UsageShape.CHAT, usage)
    assert (use.ordinary_input, use.cache_read, use.cache_write, use.is_complete) == (100, 0, 0, True)
    assert normalise(UsageShape.CHAT, {"prompt_tokens": 100, "completion_tokens": 9}).ordinary_input is None


@pytest.mark.parametrize(
    ("shape", "usage", "words"),
    [
        (UsageShape.RESPONSES, {"input_tokens": 5, "output_tokens": 2, "total_tokens": 8}, "total_tokens is 8"),
        (UsageShape.CHAT, {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 6}, "total_tokens is 6"),
        (
            UsageShape.GEMINI,
            {"promptTokenCount": 5, "candidatesTokenCount": 1, "thoughtsTokenCount": 1, "totalTokenCount": 6},
            "totalTokenCount is 6",
        ),
        (
            UsageShape.CHAT,
            {"completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 3}},
            "3 tokens of reasoning exceed",
        ),
        (
            UsageShape.ANTHROPIC,
            {"cache_creation_input_tokens": 4, "cache_creation": {"ephemeral_1h_input_tokens": 5}},
            "ephemeral_1h_input_tokens is 5",
        ),
    ],
)
def test_numbers_that_contradict_each_other_are_refused(shape: UsageShape, usage: dict[str, Any], words: str) -> None:
    with pytest.raises(IntegrityError, match=words):
        normalise(shape, usage)


@pytest.mark.parametrize("no_count", [-1, True, "7", 7.0, None, [7], {}])
def test_case_80_a_stated_count_that_is_no_whole_number_from_zero_on_is_unknown(no_count: object) -> None:
    stated: dict[str, Any] = {"input_tokens": 3, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    stated |= {"output_tokens": 2}
    for name in stated:
        use = normalise(UsageShape.ANTHROPIC, stated | {name: no_count})
        assert not use.is_complete, name
        assert use.total is None, name
    assert normalise(UsageShape.ANTHROPIC, stated).total == 5


def test_what_one_request_did_not_say_the_sum_does_not_know() -> None:
    known = TokenUse(whole=5, ordinary_input=5, cache_read=0, cache_write=0, output=2)
    total = NO_TOKENS.plus(known).plus(TokenUse(output=3))
    assert total == TokenUse(output=5)


def _responses(whole: int, read: int, write: int, output: int, reasoning: int) -> dict[str, Any]:
    return {
        "input_tokens": whole,
        "input_tokens_details": {"cached_tokens": read, "cache_write_tokens": write},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": whole + output,
    }


def _total(shape: UsageShape, several: list[dict[str, Any]]) -> TokenUse:
    total = NO_TOKENS
    for usage in several:
        total = total.plus(normalise(shape, usage))
    return total
