"""Laws of redaction."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from farm.redaction import MARK, Redactor
from farm.redaction.hunt import SECRET_NAMES

SECRETS = st.text(st.characters(codec="utf-8", exclude_characters="\n\r"), min_size=8, max_size=30).filter(
    lambda text: text not in MARK
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TOKEN = "sk-ant-" + "a1B2" * 8
FRAGMENTS = st.lists(
    st.sampled_from(
        [
            TOKEN,
            "risk-",
            "cookie",
            "password",
            "Authorization: ",
            "x-api-key",
            "Bearer ",
            "https://",
            ":",
            "@host",
            "eyJ",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "a" * 20,
            "=",
            "\\",
            '"',
            "'",
            "\n",
            "\x00",
            "u00",
            "41",
            "\\u0073k-ant-" + "a1B2" * 8,
            "\\/",
            "{",
            "}",
            "[",
            ",",
            "data: ",
            '{"cookie":{"a":1}}',
            '{"password":"p"}',
            "é",
            "0",
        ]
    ),
    max_size=8,
).map("".join)
SUSPECT_JSON = st.recursive(
    FRAGMENTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FRAGMENTS, inner, max_size=4),
    max_leaves=12,
)


def texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case list():
            return [text for one in value for text in texts(one)]
        case dict():
            return [text for name, one in value.items() for text in (name, *texts(one))]
        case _:
            return []


def expected(redactor: Redactor, value: Any) -> Any:
    """Redact a JSON value text by text, the plain way."""
    match value:
        case str():
            return redactor.text(value)
        case list():
            return [expected(redactor, one) for one in value]
        case dict():
            return {redactor.text(name): _field(redactor, name, one) for name, one in value.items()}
        case _:
            return value


def _field(redactor: Redactor, name: str, value: Any) -> Any:
    is_named = name.lower() in SECRET_NAMES and isinstance(value, str) and value
    return MARK if is_named else expected(redactor, value)


@given(SECRETS, JSON, st.booleans())
def test_a_known_secret_is_in_no_text_of_a_document_however_it_is_spelled(
    secret: str, value: Any, ascii_only: bool
) -> None:
    planted = {"a": [value, f"before{secret}after"], secret: value}
    body = json.dumps(planted, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = json.loads(Redactor([secret]).body(body).decode("utf-8", "surrogatepass"))
    assert not any(secret in text for text in texts(found))


@given(SECRETS, st.binary(), st.binary())
def test_a_known_secret_is_in_no_bytes(secret: str, before: bytes, after: bytes) -> None:
    assert secret.encode() not in Redactor([secret]).body(before + secret.encode() + after)


@given(st.binary(), st.lists(SECRETS, max_size=3))
def test_redacting_again_changes_nothing(body: bytes, secrets: list[str]) -> None:
    redactor = Redactor(secrets)
    once = redactor.body(body)
    assert redactor.body(once) == once


@given(JSON)
def test_a_document_without_secrets_keeps_its_bytes(value: Any) -> None:
    body = json.dumps({"field": value}).encode()
    found = Redactor().body(body)
    assert found == body or json.loads(found) != json.loads(body)


@given(SUSPECT_JSON, st.booleans(), st.sampled_from([None, 1]))
def test_json_stays_json_and_is_redacted_as_its_value_is(value: Any, ascii_only: bool, indent: int | None) -> None:
    redactor = Redactor()
    body = json.dumps([value], ensure_ascii=ascii_only, indent=indent).encode()
    once = redactor.body(body)
    assert json.loads(once) == expected(redactor, [value])
    assert redactor.body(once) == once


@given(FRAGMENTS)
def test_redacting_a_text_again_changes_nothing(text: str) -> None:
    redactor = Redactor(["a" * 20])
    once = redactor.text(text)
    assert redactor.text(once) == once
    whole = redactor.body(text.encode())
    assert redactor.body(whole) == whole
