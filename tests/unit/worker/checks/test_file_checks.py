"""When a check of one file holds."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from worker.checks.file_checks import Absent, FileCheck, Found, NoText, PathCheck, Text, Unreached, complaint

ADAPTER: TypeAdapter[PathCheck] = TypeAdapter(FileCheck)
ODD = (NoText("the file is not UTF-8"), Unreached("a link stands on the way"))


def a_check(kind: str, **fields: Any) -> PathCheck:
    return ADAPTER.validate_python({"kind": kind, "path": "out/a.txt"} | fields)


CONTENT = (
    a_check("file_contains", text="ready"),
    a_check("file_not_contains", text="broken"),
    a_check("file_equals", text="ready\n"),
    a_check("json_equals", pointer="", value="ready"),
)


def holds(check: PathCheck, found: Found) -> bool:
    return complaint(check, found) is None


@pytest.mark.parametrize(
    ("check", "text", "is_held"),
    [
        (CONTENT[0], "is ready now", True),
        (CONTENT[0], "is READY now", False),
        (CONTENT[1], "is ready", True),
        (CONTENT[1], "is broken", False),
        (CONTENT[2], "ready\n", True),
        (CONTENT[2], "ready", False),
        (CONTENT[2], "ready\r\n", False),
        (a_check("file_equals", text=""), "", True),
    ],
)
def test_text_is_compared_as_it_stands(check: PathCheck, text: str, is_held: bool) -> None:
    assert holds(check, Text(text)) is is_held


def test_a_file_exists_when_it_is_regular_whatever_it_holds() -> None:
    exists = a_check("file_exists")
    assert [holds(exists, found) for found in (Text("x"), ODD[0], ODD[1], Absent())] == [True, True, False, False]


def test_a_file_is_absent_only_when_nothing_is_there() -> None:
    absent = a_check("file_absent")
    assert [holds(absent, found) for found in (Absent(), Text("x"), *ODD)] == [True, False, False, False]


@pytest.mark.parametrize("check", CONTENT)
@pytest.mark.parametrize("found", [Absent(), *ODD])
def test_of_what_is_no_text_no_content_holds_not_even_that_it_lacks_something(check: PathCheck, found: Found) -> None:
    assert not holds(check, found)


@pytest.mark.parametrize(
    ("document", "pointer", "value"),
    [
        ('{"a": 1, "b": [true, null]}', "", {"b": [True, None], "a": 1}),
        ('{"a": {"b": [1, 2]}}', "/a/b/1", 2),
        ('{"retries": 3.0}', "/retries", 3),
        ('{"a/b": {"~": "x"}}', "/a~1b/~0", "x"),
        ('{"": 0}', "/", 0),
        ('{"a": null}', "/a", None),
    ],
)
def test_a_value_of_a_document_is_equal_whatever_its_format(document: str, pointer: str, value: Any) -> None:
    check = a_check("json_equals", pointer=pointer, value=value)
    assert holds(check, Text(document))
    assert holds(check, Text(f" {json.dumps(json.loads(document), indent=3)}\n"))


@pytest.mark.parametrize(
    ("document", "pointer", "value"),
    [
        ('{"a": true}', "/a", 1),
        ('{"a": 1}', "/a", True),
        ('{"a": "1"}', "/a", 1),
        ('{"a": 0}', "/a", False),
        ('{"b": 1}', "/a", None),
        ('{"a": [1]}', "/a/1", None),
        ('{"a": [1]}', "/a/-", None),
        ('{"a": [1]}', "/a/00", 1),
        ('{"a": 1, "a": 1}', "/a", 1),
        ('{"a": 1} {}', "/a", 1),
        ("[1, 2]", "", [2, 1]),
        ("[1]", "", [1, 1]),
        ("{'a': 1}", "/a", 1),
        ("\ufeff{}", "", {}),
        ("[" * 100_000, "", []),
        ("NaN", "", 0),
        ("", "", ""),
    ],
)
def test_another_value_a_missing_one_and_no_json_fail(document: str, pointer: str, value: Any) -> None:
    assert not holds(a_check("json_equals", pointer=pointer, value=value), Text(document))


def test_a_complaint_quotes_neither_side() -> None:
    said = [complaint(check, Text("a secret ready broken")) for check in CONTENT[1:]]
    assert [line for line in said if line is None or "secret" in line or "ready" in line] == []


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "file_exists", "path": "../a"},
        {"kind": "file_exists", "path": "/a"},
        {"kind": "file_exists", "path": "a/../b"},
        {"kind": "file_exists", "path": "a" * 1025},
        {"kind": "file_contains", "path": "a", "text": ""},
        {"kind": "file_contains", "path": "a", "text": "x" * 4097},
        {"kind": "file_equals", "path": "a"},
        {"kind": "json_equals", "path": "a", "pointer": "b", "value": 1},
        {"kind": "json_equals", "path": "a", "pointer": "/~2", "value": 1},
        {"kind": "json_equals", "path": "a", "pointer": "/" + "x" * 2048, "value": 1},
        {"kind": "always_false"},
        {"kind": "file_moved", "path": "a"},
        {"kind": "file_exists", "path": "a", "text": "x"},
    ],
)
def test_a_check_that_can_not_be_meant_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(fields)
