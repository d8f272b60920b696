"""Laws of guidance: what it is about is gone, what it is not about stays, and once is enough."""

from hypothesis import given, settings
from hypothesis import strategies as st

from farm.model import Guidance, stripped

HINT = "Ask the graph."
KEPT = st.sampled_from(
    ["Be brief.", "", "- one", "  - two", "# Other", "## Other ##", "```", "~~~ x", "a <b> c", "x: y"]
)
MARKED = st.lists(KEPT, max_size=3).map(lambda inner: ["<!-- graph:start -->", HINT, *inner, "<!--graph:end-->"])
PLAIN = KEPT.map(lambda line: [line])


def text_of(parts: list[list[str]]) -> str:
    return "".join(f"{line}\n" for part in parts for line in part)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.one_of(PLAIN, MARKED), max_size=12))
def test_marked_blocks_go_and_all_else_stays(parts: list[list[str]]) -> None:
    kept = [part for part in parts if HINT not in part]
    found = stripped(text_of(parts), Guidance(blocks=("graph",)))
    assert found.text == text_of(kept)
    assert found.found == ({"graph"} if len(kept) < len(parts) else set())


@settings(deadline=None, max_examples=50)
@given(st.lists(KEPT, max_size=12), st.integers(1, 6))
def test_a_section_goes_once_and_for_all(lines: list[str], level: int) -> None:
    text = text_of([["# House", f"{'#' * level} Graph", HINT], lines])
    rules = Guidance(sections=("Graph",))
    once = stripped(text, rules).text
    assert HINT not in once
    assert stripped(once, rules).text == once


@settings(deadline=None, max_examples=50)
@given(st.text())
def test_a_text_without_guidance_stays_as_it_is(text: str) -> None:
    kept = text.replace("graph", "").replace("Graph", "").replace("GRAPH", "")
    assert stripped(kept, Guidance(blocks=("graph",), sections=("the graph",))).text == kept
