"""What a request's body asks, read from a copy: the bytes that go to the provider stay as they came.

The one exception is a streamed Chat request that does not ask for its usage: it is made to, and nothing else in it
changes. Keys are read as they stand in the outermost object, and one that stands there twice is refused: which of the
two a provider takes is its own affair.
"""

import json
import re
from dataclasses import dataclass
from http import HTTPStatus

from pydantic import JsonValue

from farm.model import RequestEnd, Wire
from worker.gateway.coding import CodingError, SwollenError, decoder
from worker.gateway.purse import Bound
from worker.gateway.reaching import reaching
from worker.gateway.routes import LocalAnswer, Route

_BLANK = re.compile(r"[ \t\n\r]*")
_CLOSE = re.compile(r"[ \t\n\r]*\}")
_MARKS = {mark: re.compile(rf"[ \t\n\r]*{re.escape(mark)}[ \t\n\r]*") for mark in "{:,"}
_MODEL = re.compile(r"[!-~]{1,256}")
_MODEL_LISTS = ("models", "fallbacks")
"""Where routers take further models from, beside `model`."""
_ORDINARY = {
    "service_tier": {None, "auto", "default", "standard", "standard_only"},
    "speed": {None, "standard"},
    "inference_geo": {None, "global"},
}
"""What leaves a price as it is."""
_MOST_VALUES = 250_000
"""In one body. Four times what a window of a million tokens of code has of commas; a parser needs 0.1 s for them."""
_MOST_MEMBERS = 1000
"""Of the outermost object."""
_MOST_DIGITS = 20
_MOST_SWELL = 200
"""Times what a compressed body may grow by: text grows tenfold."""
_SMALL = 1 << 20
"""Decompressed bytes that are read whatever they grew from."""


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a whole number of {len(digits)} digits")  # to read one takes time by its square
    return int(digits)


def _said_once(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object says a key twice")
    return found


_scan = json.JSONDecoder(parse_int=_whole_number, object_pairs_hook=_said_once).raw_decode


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request asks, and the bytes to send."""

    models: tuple[str, ...]
    """The one that is asked, then those that a router may turn to."""
    body: bytes
    encoding: str
    """The body's Content-Encoding; '' for none."""
    bound: Bound
    hides_usage: bool = False
    """The client did not ask for the usage that we ask for."""

    @property
    def model(self) -> str:
        return self.models[0]


@dataclass(frozen=True, slots=True)
class _Member:
    value: JsonValue
    start: int
    end: int


def read_body(route: Route, body: bytes, encoding: str, most_bytes: int) -> Asked | LocalAnswer:
    """Read what is asked, or say what is wrong with it."""
    try:
        plain = _plain(body, encoding, most_bytes)
        _ensure_few_values(plain)
        text = plain.decode()
        members = _members(text)
        values = {key: member.value for key, member in members.items()}
        models = _models(route, values)
        _ensure_within_reach(route.wire, values)
        bound = Bound(models[0], len(plain), _most_output(route.wire, values), _unbounded(values))
    except SwollenError as error:
        return LocalAnswer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"the body is too large: {error}", RequestEnd.TOO_LARGE)
    except CodingError as error:
        return _refusal(f"the body can't be decompressed: {error}")
    except _UnwantedError as error:
        return _refusal(str(error))
    except (ValueError, RecursionError) as error:
        return _refusal(f"the body is not one plain JSON object in UTF-8: {error}")
    if route.wire is Wire.CHAT and values.get("stream") is True and not _wants_usage(values):
        return Asked(models, _with_usage(text, members.get("stream_options")), "", bound, hides_usage=True)
    return Asked(models, body, encoding, bound)


class _UnwantedError(Exception):
    """A body that says something that does not pass."""


def _ensure_within_reach(wire: Wire, values: dict[str, JsonValue]) -> None:
    reached = reaching(wire, values)
    if reached is not None:
        raise _UnwantedError(f"not open to this session: {reached}")


def _refusal(message: str) -> LocalAnswer:
    return LocalAnswer(HTTPStatus.BAD_REQUEST, message, RequestEnd.REFUSED)


def _plain(body: bytes, encoding: str, most_bytes: int) -> bytes:
    undo = decoder(encoding, min(most_bytes, max(_SMALL, _MOST_SWELL * len(body))))
    if undo is None:
        raise CodingError(f"its encoding is {encoding[:40]!r}; gzip, deflate and zstd are read")
    plain = b"".join(undo.feed(body))
    undo.finish()
    return plain


def _ensure_few_values(plain: bytes) -> None:
    """Raise ValueError for more values than may be built: a parser stops all threads of the slot while it works."""
    most = sum(map(plain.count, (b",", b"[", b"{")))  # those in strings too: to tell them apart would cost as much
    if most > _MOST_VALUES:
        raise ValueError(f"{most} commas and brackets; {_MOST_VALUES} are read")


def _members(text: str) -> dict[str, _Member]:
    """Read the outermost object's members one by one; ValueError when it is none, or says one of them twice."""
    members: dict[str, _Member] = {}
    names: set[str] = set()
    at = _after(text, 0, "{")
    if text.startswith("}", at):
        _ensure_end(text, at + 1)
        return members
    while True:
        key, end = _scan(text, at)
        if not isinstance(key, str) or key.casefold() in names:  # some providers read `MODEL` as `model`
            raise ValueError(f"the key {str(key)[:40]!r} stands there twice, or is none")
        if len(names) == _MOST_MEMBERS:
            raise ValueError(f"more than {_MOST_MEMBERS} keys")
        names.add(key.casefold())
        start = _after(text, end, ":")
        value, end = _scan(text, start)
        members[key] = _Member(value, start, end)
        if (close := _CLOSE.match(text, end)) is not None:
            _ensure_end(text, close.end())
            return members
        at = _after(text, end, ",")


def _after(text: str, at: int, mark: str) -> int:
    found = _MARKS[mark].match(text, at)
    if found is None:
        raise ValueError(f"no {mark!r} at character {at}")
    return found.end()


def _ensure_end(text: str, at: int) -> None:
    if _BLANK.fullmatch(text, at) is None:
        raise ValueError(f"more text at character {at}")


def _models(route: Route, values: dict[str, JsonValue]) -> tuple[str, ...]:
    named: list[JsonValue] = [route.model if route.model is not None else values.get("model")]
    for key in _MODEL_LISTS:
        listed = values.get(key)
        named += listed if isinstance(listed, list) else []
    models = tuple(name for name in named if isinstance(name, str) and _MODEL.fullmatch(name))
    if len(models) != len(named):
        raise _UnwantedError("the body names no model, or one by what is no name")
    return models


def _unbounded(values: dict[str, JsonValue]) -> str | None:
    """Name what makes a request cost more than its bytes and its output say."""
    for key, ordinary in _ORDINARY.items():
        value = values.get(key)
        if not (value is None or isinstance(value, str)) or value not in ordinary:
            return key
    management = values.get("context_management")
    edits = management.get("edits") if isinstance(management, dict) else management
    for edit in edits if isinstance(edits, list) else []:
        if isinstance(edit, dict) and str(edit.get("type")).startswith("compact"):
            return "context_management"  # the provider asks a model of its own accord
    return None


def _most_output(wire: Wire, values: dict[str, JsonValue]) -> int | None:
    """Give the most output that is stated; _UnwantedError for what is no count, or is said in two ways."""
    match wire:
        case Wire.ANTHROPIC:
            return _count("max_tokens", values.get("max_tokens"))
        case Wire.RESPONSES:
            return _count("max_output_tokens", values.get("max_output_tokens"))
        case Wire.CHAT:
            stated = [_count(key, values.get(key)) for key in ("max_tokens", "max_completion_tokens")]
            most = max((count for count in stated if count is not None), default=None)
            return _times(most, _count("n", values.get("n")))
        case Wire.GEMINI:
            config = _either(values, "generationConfig", "generation_config")
            if not isinstance(config, dict):
                return None
            most = _count("maxOutputTokens", _either(config, "maxOutputTokens", "max_output_tokens"))
            return _times(most, _count("candidateCount", _either(config, "candidateCount", "candidate_count")))


def _either(values: dict[str, JsonValue], camel: str, snake: str) -> JsonValue:
    if camel in values and snake in values:
        raise _UnwantedError(f"{camel!r} and {snake!r} say the same thing: say it once")
    return values.get(camel, values.get(snake))


def _times(most: int | None, answers: int | None) -> int | None:
    return None if most is None else most * max(answers or 1, 1)


def _count(name: str, stated: JsonValue) -> int | None:
    if stated is None:
        return None
    if type(stated) is not int or stated < 0:
        raise _UnwantedError(f"{name!r} is {str(stated)[:40]!r}: it must be a whole number")
    return stated


def _wants_usage(values: dict[str, JsonValue]) -> bool:
    options = values.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _with_usage(text: str, options: _Member | None) -> bytes:
    if options is None:
        start = text.index("{") + 1  # members follow: `stream` is one
        return f'{text[:start]}"stream_options":{{"include_usage":true}},{text[start:]}'.encode()
    stated = options.value if isinstance(options.value, dict) else {}
    wanted = json.dumps({**stated, "include_usage": True}, separators=(",", ":"))
    return f"{text[: options.start]}{wanted}{text[options.end :]}".encode()
