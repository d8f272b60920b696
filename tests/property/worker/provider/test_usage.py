"""What a script declares is what a reader of the wire finds, number by number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from farm.model import TokenUse, UsageShape, Wire, normalise
from worker.provider.dialects import DIALECTS
from worker.provider.script import DeclaredUsage

COUNTS = st.integers(0, 10**9)
MAYBE = st.none() | COUNTS
SHAPES = {
    Wire.ANTHROPIC: UsageShape.ANTHROPIC,
    Wire.RESPONSES: UsageShape.RESPONSES,
    Wire.CHAT: UsageShape.CHAT,
    Wire.GEMINI: UsageShape.GEMINI,
}
HAS_WRITES = {Wire.ANTHROPIC, Wire.RESPONSES}
HAS_REASONING = {Wire.RESPONSES, Wire.CHAT, Wire.GEMINI}


@st.composite
def declared(draw: st.DrawFn, counts: st.SearchStrategy[int | None]) -> DeclaredUsage:
    output = draw(counts)
    return DeclaredUsage(
        ordinary_input=draw(counts),
        cache_read=draw(counts),
        cache_write=draw(counts),
        output=output,
        reasoning=None if output is None else draw(st.integers(0, output)),
    )


def read_back(wire: Wire, usage: DeclaredUsage) -> TokenUse:
    return normalise(SHAPES[wire], DIALECTS[wire].usage(usage))


@pytest.mark.parametrize("wire", list(Wire))
@given(usage=declared(COUNTS))
def test_what_is_declared_comes_back(wire: Wire, usage: DeclaredUsage) -> None:
    written = usage.cache_write or 0
    ordinary = usage.ordinary_input or 0
    assert read_back(wire, usage) == TokenUse(
        whole=ordinary + (usage.cache_read or 0) + written,
        ordinary_input=ordinary if wire in HAS_WRITES else ordinary + written,
        cache_read=usage.cache_read,
        cache_write=written if wire in HAS_WRITES else 0,
        output=usage.output,
        reasoning=usage.reasoning if wire in HAS_REASONING else None,
    )


@pytest.mark.parametrize("wire", list(Wire))
@given(usage=declared(MAYBE))
def test_what_is_not_declared_is_not_known(wire: Wire, usage: DeclaredUsage) -> None:
    found = read_back(wire, usage)
    assert found.output == usage.output
    assert found.cache_read == usage.cache_read
    assert (found.ordinary_input is None) >= (usage.ordinary_input is None)
    if wire in HAS_WRITES:
        assert found.cache_write == usage.cache_write
        assert found.ordinary_input in (None, usage.ordinary_input)


@pytest.mark.parametrize("wire", list(Wire))
@given(usage=declared(MAYBE))
def test_a_usage_states_no_number_that_is_not_declared_or_their_sum(wire: Wire, usage: DeclaredUsage) -> None:
    known = [
        usage.ordinary_input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
        usage.reasoning,
    ]
    assert numbers(DIALECTS[wire].usage(usage)) == [] or any(each is not None for each in known)


def numbers(value: JsonValue) -> list[JsonValue]:
    """Give the leaves of a JSON value."""
    if isinstance(value, dict):
        return [leaf for each in value.values() for leaf in numbers(each)]
    return [value]


@given(write=COUNTS, hour=COUNTS)
def test_writes_for_an_hour_are_a_part_of_all_writes(write: int, hour: int) -> None:
    usage = DeclaredUsage(ordinary_input=1, cache_read=2, cache_write=write + hour, cache_write_1h=hour, output=3)
    found = read_back(Wire.ANTHROPIC, usage)
    assert (found.cache_write, found.cache_write_1h) == (write + hour, hour)


@pytest.mark.parametrize("wire", [Wire.RESPONSES, Wire.CHAT, Wire.GEMINI])
@given(whole=COUNTS)
def test_a_whole_may_be_declared_without_its_parts(wire: Wire, whole: int) -> None:
    assert read_back(wire, DeclaredUsage(whole=whole)).whole == whole
