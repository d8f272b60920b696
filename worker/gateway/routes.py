"""Which requests go to the provider: its generation paths, and nothing else.

A target is compared as it stands on the request line: no form of writing it differently reaches the provider.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus

from farm.model import RequestEnd, Wire

_TARGET = re.compile(r"/[!\"$-~]*")  # from the root, printable, no fragment
_MOST_TARGET = 4096
_PROBES = {"/", "/api/hello"}
_PATHS = {
    "/v1/messages": Wire.ANTHROPIC,
    "/v1/responses": Wire.RESPONSES,
    "/responses": Wire.RESPONSES,
    "/v1/chat/completions": Wire.CHAT,
    "/chat/completions": Wire.CHAT,
}
_GEMINI = re.compile(r"/v1(?:beta)?/models/([A-Za-z0-9][A-Za-z0-9._-]{0,127}):(generateContent|streamGenerateContent)")
_KEYS = {"key", "access_token"}
"""What Gemini takes for a key in a query."""


@dataclass(frozen=True, slots=True)
class Route:
    """A request for a model."""

    wire: Wire
    target: str
    """Path and query for the provider."""
    model: str | None = None
    """Where the path names it."""
    streams: bool = False
    """Where the path says so."""


@dataclass(frozen=True, slots=True)
class LocalAnswer:
    """What the gateway says itself."""

    status: int
    message: str
    end: RequestEnd | None = None
    """How it counts; None: a probe, which asked for no model."""


def route_of(method: str, target: str, wires: frozenset[Wire]) -> Route | LocalAnswer:
    """Say where a request goes."""
    if len(target) > _MOST_TARGET or not _TARGET.fullmatch(target):
        return LocalAnswer(HTTPStatus.BAD_REQUEST, "the request's target is not a plain path", RequestEnd.REFUSED)
    path, mark, query = target.partition("?")
    is_reading = method in {"GET", "HEAD"}
    if is_reading and path in _PROBES:
        return LocalAnswer(HTTPStatus.OK, "cellfarm")
    route = _generation(path, mark + query)
    end = None if is_reading else RequestEnd.REFUSED
    if route is None or route.wire not in wires:
        return LocalAnswer(HTTPStatus.NOT_FOUND, "this path is not open: only a model can be asked here", end)
    if method != "POST":
        return LocalAnswer(HTTPStatus.METHOD_NOT_ALLOWED, "a model is asked by POST", end)
    return route


def _generation(path: str, query: str) -> Route | None:
    wire = _PATHS.get(path)
    if wire is not None:
        return Route(wire, path + query)
    found = _GEMINI.fullmatch(path)
    if found is None:
        return None
    return Route(Wire.GEMINI, path + _without_keys(query), found[1], found[2] == "streamGenerateContent")


def _without_keys(query: str) -> str:
    kept = [part for part in query[1:].split("&") if part.partition("=")[0].lower() not in _KEYS]
    return "?" + "&".join(kept) if kept != [""] and kept else ""


def dialect_of(target: str, wires: frozenset[Wire]) -> Wire:
    """Say whose errors a path's caller understands, when the path itself is not open."""
    if len(wires) == 1:
        return next(iter(wires))
    for wire, sign in ((Wire.ANTHROPIC, "/messages"), (Wire.GEMINI, "/models/"), (Wire.RESPONSES, "/responses")):
        if wire in wires and sign in target:
            return wire
    return min(wires)
