"""Guidance taken out of texts: whole blocks, whole sections, and nothing else."""

from typing import Any

import pytest
from pydantic import ValidationError

from farm.model import Guidance, GuidanceError, stripped

BLOCK = "Before.\n<!-- graph:start -->\nUse the graph.\n<!-- graph:end -->\nAfter.\n"


def left_of(text: str, **rules: Any) -> str:
    return stripped(text, Guidance(**rules)).text


def test_a_marked_block_goes_with_its_markers_and_their_lines() -> None:
    assert left_of(BLOCK, blocks=["graph"]) == "Before.\nAfter.\n"
    assert stripped(BLOCK, Guidance(blocks=("graph", "other"))).found == {"graph"}


def test_every_block_of_a_name_goes_and_those_of_others_stay() -> None:
    other = BLOCK.replace("graph", "house")
    assert left_of(BLOCK + other + BLOCK, blocks=["graph"]) == "Before.\nAfter.\n" + other + "Before.\nAfter.\n"


def test_a_block_within_a_line_leaves_the_rest_of_it() -> None:
    assert left_of("Do <!-- g:start -->this<!-- g:end --> now.\n", blocks=["g"]) == "Do  now.\n"


@pytest.mark.parametrize(
    "text",
    [
        "<!-- graph:start -->\nUse it.\n",
        "Use it.\n<!-- graph:end -->\n",
        "<!-- graph:end -->\n<!-- graph:start -->\n",
        "<!-- graph:start -->\n<!-- graph:start -->\n<!-- graph:end -->\n<!-- graph:end -->\n",
        "<!-- graph:start -->\n<!-- graph:stop -->\n",
        "<!-- graph:start -->\nUse it.\n<!-- graph:end ->\n",
        "<!--\ngraph:start -->\nUse it.\n",
        "<!-- graph:begin -->\nUse it.\n",
    ],
)
def test_markers_that_are_not_in_pairs_are_refused(text: str) -> None:
    with pytest.raises(GuidanceError, match="'graph' are not in pairs"):
        left_of(text, blocks=["graph"])


SECTIONS = """\
# House

Rules.

## Graph ##

Use the graph.

### How

- ask it
  - twice

```sh
# House
```

## Tests

Run them.
"""


def test_a_section_goes_up_to_the_next_heading_of_its_level() -> None:
    left = left_of(SECTIONS, sections=["graph"])
    assert left == "# House\n\nRules.\n\n## Tests\n\nRun them.\n"
    assert stripped(SECTIONS, Guidance(sections=("GRAPH", "none"))).found == {"GRAPH"}


def test_what_stands_in_a_fence_is_no_heading() -> None:
    fenced = "```\n# Graph\n```\n~~~~\n# Graph\n~~~\n# Graph\n~~~~\n"
    assert left_of(fenced, sections=["Graph"]) == fenced


def test_underlined_headings_are_headings_too() -> None:
    text = "House\n=====\n\nGraph\n-----\n\nUse it.\n\nTests\n-----\n\nRun.\n"
    assert left_of(text, sections=["Graph"]) == "House\n=====\n\nTests\n-----\n\nRun.\n"


def test_the_note_stands_at_the_end() -> None:
    assert left_of(BLOCK, blocks=["graph"], note="There is no graph.") == "Before.\nAfter.\n\nThere is no graph.\n"
    assert left_of(BLOCK[8:-7], blocks=["graph"], note="There is no graph.") == "There is no graph.\n"


@pytest.mark.parametrize(
    "rules", [{}, {"note": "x"}, {"blocks": ["a b"]}, {"sections": [" "]}, {"blocks": ["a"], "files": ["../x"]}]
)
def test_rules_that_say_nothing_or_lead_out_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Guidance(**rules)
