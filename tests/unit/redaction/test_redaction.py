"""What is taken out of a text, and what is left alone."""

import base64
import json
import time
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
        ("Authorization: ApiKey abc", f"Authorization: ApiKey {MARK}"),
        (f"Authorization: Own-Scheme {TOKEN}", f"Authorization: Own-Scheme {MARK}"),
        (f"Authorization: {TOKEN}, then", f"Authorization: {MARK}, then"),
        ("X-Api-Key: abc", f"X-Api-Key: {MARK}"),
        ("x-goog-api-key=abc", f"x-goog-api-key={MARK}"),
        ("Set-Cookie: session=abc; Path=/", f"Set-Cookie: {MARK} Path=/"),
        ("https://user:pass@host/path", f"https://{MARK}@host/path"),
        (f"https://{TOKEN}@host/path", f"https://{MARK}@host/path"),
        (f"risk-sk-ant-api03-{TOKEN}", f"risk-{MARK}"),
        (rf"line\nsk-ant-{TOKEN}", rf"line\n{MARK}"),
        (f"\x1b[32msk-ant-{TOKEN}\x1b[0m", f"\x1b[32m{MARK}\x1b[0m"),
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
        "authorization: required, see below\nAuthorization:\n\n{}",
        "git clone https://someone@host/path",
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
    planted = json.dumps({"list": [1, {KNOWN: [f"x{KNOWN}"]}], "flag": True, "none": None})
    found = json.loads(Redactor([KNOWN]).body(planted.encode()))
    assert found == {"list": [1, {MARK: [f"x{MARK}"]}], "flag": True, "none": None}


def test_bytes_that_are_no_text_are_kept_around_a_secret() -> None:
    assert Redactor([KNOWN]).body(b"\xff\x00" + KNOWN.encode() + b"\xfe") == b"\xff\x00" + MARK.encode() + b"\xfe"


def test_what_is_learned_later_is_taken_out_from_then_on() -> None:
    redactor = Redactor()
    assert redactor.text(KNOWN) == KNOWN
    redactor.learn(KNOWN)
    assert redactor.text(KNOWN) == MARK


@pytest.mark.parametrize("before", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("after", ["", "z", "zy", "zyx"])
@pytest.mark.parametrize("secret", [KNOWN, KNOWN + "1", KNOWN + "12"])
def test_base64_hides_no_known_secret_wherever_in_it_the_secret_starts(before: str, after: str, secret: str) -> None:
    plain = f"{before}{secret}{after}".encode()
    for coded in (base64.b64encode(plain).decode(), base64.urlsafe_b64encode(plain).decode()):
        assert MARK in Redactor([secret]).text(f"it is {coded}")


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("secret", [KNOWN, "schl\u00fcssel-\u65e5\u672c-1234"])
def test_utf_16_hides_no_known_secret_and_stays_utf_16(order: str, secret: str) -> None:
    assert Redactor([secret]).body(f"it is {secret}!".encode(order)).decode(order) == f"it is {MARK}!"
    within = json.dumps([f"it is {secret}!".encode(order).decode("latin-1")])
    if secret.isascii():
        assert MARK in json.loads(Redactor([secret]).body(within.encode()))[0].replace("\0", "")


@pytest.mark.parametrize("secret", [KNOWN, f"sk-ant-{TOKEN}"])
@pytest.mark.parametrize(
    "text",
    [
        'event: x\ndata: {"a": "%s"}\n\n',
        '{\n  "a": [\n    "%s"\n  ], // not JSON\n}',
        "say '%s'",
        '{\\"a\\": \\"%s\\"}',
    ],
)
def test_an_escape_hides_nothing_in_a_text_either(text: str, secret: str) -> None:
    hidden = "".join(f"\\u{ord(letter):04X}" for letter in secret)
    assert Redactor([KNOWN]).body((text % hidden).encode()).decode() == text % MARK


@pytest.mark.parametrize("value", ["1", '"x"', "[]"])
def test_a_key_that_stands_twice_hides_nothing(value: str) -> None:
    body = f'{{"a":"{KNOWN}","a":{value}, "b" : 2}}'
    assert Redactor([KNOWN]).body(body.encode()).decode() == body.replace(KNOWN, MARK)
    token = f'{{"a":"sk-ant-{TOKEN}","a":{value}}}'
    assert Redactor().body(token.encode()).decode() == f'{{"a":"{MARK}","a":{value}}}'


def test_a_private_key_among_other_lines_is_taken_out_whole() -> None:
    key = "-----BEGIN PRIVATE KEY-----\nMIIE\nabcd\n-----END PRIVATE KEY-----"
    assert (
        Redactor().body(f'{{"a": 1}}\nbefore\n{key}\nafter\n'.encode())
        == f'{{"a": 1}}\nbefore\n{MARK}\nafter\n'.encode()
    )


def test_json_among_other_lines_stays_json() -> None:
    line = '{"cookie":{"a":"ghp_x","password":"p"}}'
    redacted = line.replace('"p"', f'"{MARK}"')
    assert Redactor().body(f"log\n{line}\nlog".encode()).decode() == f"log\n{redacted}\nlog"


def test_a_known_secret_of_digits_is_no_number_of_json() -> None:
    assert Redactor(["1234567890"]).body(b'{"a": 1234567890, "b": [-1234567890.5]}') == (
        f'{{"a": "{MARK}", "b": ["{MARK}"]}}'.encode()
    )


@pytest.mark.parametrize(
    "repeated",
    [
        "[],",
        '"ab",',
        '"abcdefgh",',
        '"\\u0041fgh\\n",',
        '"password":"x",',
        "{}\n",
        "\n",
        "\\",
        "eyJ",
        "_eyJ",
        "sk-",
        "cookie",
    ],
)
def test_what_a_guest_writes_takes_time_that_grows_with_its_length_only(repeated: str) -> None:
    body = ('["\\u0041","sk-","://","eyJ","cookie",' + repeated * ((1 << 19) // len(repeated))).encode()
    before_s = time.process_time()
    Redactor([KNOWN]).body(body)
    assert time.process_time() - before_s < 1
