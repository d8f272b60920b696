"""What is taken out of a text, and what is left alone."""

import base64
import json
from urllib.parse import quote

import pytest

from farm.redaction import MARK, Redactor

KNOWN = "correct/horse+battery"
TOKEN = "a1B2" * 10


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        (f"key sk-ant-api03-{TOKEN}.", f"key {MARK}."),
        (f"OPENAI_API_KEY=sk-proj-{TOKEN}", f"OPENAI_API_KEY={MARK}"),
        (f"AIza{TOKEN[:35]} x", f"{MARK} x"),
        (f"ghp_{TOKEN} github_pat_{TOKEN} glpat-{TOKEN}", f"{MARK} {MARK} {MARK}"),
        ("AKIAIOSFODNN7EXAMPLE", MARK),
        (f"xoxb-{TOKEN}", MARK),
        (f"eyJ{TOKEN}.eyJ{TOKEN}.{TOKEN}", MARK),
        ("a\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nb", f"a\n{MARK}\nb"),
        ("-----BEGIN EC PRIVATE KEY-----\ncut off", MARK),
        ("Authorization: Bearer abc.def", f"Authorization: Bearer {MARK}"),
        ("'authorization': 'Basic YTpi'", f"'authorization': 'Basic {MARK}'"),
        ("X-Api-Key: abc", f"X-Api-Key: {MARK}"),
        ("x-goog-api-key=abc", f"x-goog-api-key={MARK}"),
        ("Set-Cookie: session=abc; Path=/", f"Set-Cookie: {MARK} Path=/"),
        ("https://user:pass@host/path", f"https://{MARK}@host/path"),
        ("redis://:pass@host:6379/0", f"redis://{MARK}@host:6379/0"),
        (f"it is {KNOWN}!", f"it is {MARK}!"),
        (f"?key={quote(KNOWN, safe='')}", f"?key={MARK}"),
        (base64.b64encode(KNOWN.encode()).decode(), MARK),
    ],
)
def test_a_secret_is_taken_out_and_what_introduces_it_stays(text: str, redacted: str) -> None:
    assert Redactor([KNOWN]).text(text) == redacted


@pytest.mark.parametrize(
    "text",
    [
        "risk-assessment-of-a-very-long-thing and task-1-of-a-longer-list-of-tasks",
        "see https://host:8080/a@b and git@host:path",
        "the author's authorization is pending",
        "AKIA and sk-short and ghp_x",
        "ratio 3:4@home",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    ],
)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert Redactor([KNOWN]).text(text) == text
    assert Redactor([KNOWN]).body(text.encode()) == text.encode()


def test_a_text_too_short_to_be_a_secret_is_not_learned() -> None:
    assert Redactor(["abc", ""]).text("abcabc") == "abcabc"


def test_a_longer_secret_goes_before_a_part_of_it() -> None:
    assert Redactor(["12345678", "12345678-tail"]).text("12345678-tail") == MARK


def test_an_escape_hides_nothing_and_json_stays_json() -> None:
    hidden = "".join(f"\\u{ord(letter):04x}" for letter in f"sk-ant-{TOKEN}")
    lines = f'{{"a": "{hidden}"}}\n{{"b":  1}}\nnot json sk-ant-{TOKEN}\n'.encode()
    first, second, third = Redactor().body(lines).splitlines()
    assert (json.loads(first), second, third) == ({"a": MARK}, b'{"b":  1}', f"not json {MARK}".encode())


def test_what_stands_under_a_secrets_name_is_taken_out_whatever_it_is() -> None:
    document = json.dumps({"headers": {"Authorization": "plain", "x-api-key": "k", "accept": "a"}, "password": None})
    assert json.loads(Redactor().body(document.encode())) == {
        "headers": {"Authorization": MARK, "x-api-key": MARK, "accept": "a"},
        "password": None,
    }


def test_a_document_is_redacted_to_its_last_text() -> None:
    found = Redactor([KNOWN]).document({"list": [1, {KNOWN: [f"x{KNOWN}"]}], "flag": True, "none": None})
    assert found == {"list": [1, {MARK: [f"x{MARK}"]}], "flag": True, "none": None}


def test_bytes_that_are_no_text_are_kept_around_a_secret() -> None:
    assert Redactor([KNOWN]).body(b"\xff\x00" + KNOWN.encode() + b"\xfe") == b"\xff\x00" + MARK.encode() + b"\xfe"


def test_what_is_learned_later_is_taken_out_from_then_on() -> None:
    redactor = Redactor()
    assert redactor.text(KNOWN) == KNOWN
    redactor.learn(KNOWN)
    assert redactor.text(KNOWN) == MARK
