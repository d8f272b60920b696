"""Laws of the check `json_equals`."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from worker.checks.file_checks import JsonEquals, Text, complaint

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def holds(text: str, value: Any, pointer: str = "") -> bool:
    check = JsonEquals(kind="json_equals", path="a.json", pointer=pointer, value=value)
    return complaint(check, Text(text)) is None


@given(document=DOCUMENTS, indent=st.none() | st.integers(0, 3), plain=st.booleans())
def test_a_document_equals_itself_however_it_is_written(document: Any, indent: int | None, plain: bool) -> None:
    assert holds(json.dumps(document, indent=indent, ensure_ascii=plain, sort_keys=plain), document)


@given(one=DOCUMENTS, other=DOCUMENTS)
def test_being_equal_has_no_direction(one: Any, other: Any) -> None:
    assert holds(json.dumps(one), other) is holds(json.dumps(other), one)


@given(keys=st.lists(st.text(max_size=6), max_size=5), value=DOCUMENTS)
def test_a_pointer_leads_through_any_keys(keys: list[str], value: Any) -> None:
    document = value
    for key in reversed(keys):
        document = {key: document}
    pointer = "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in keys)
    assert holds(json.dumps(document), value, pointer)
