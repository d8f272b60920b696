"""Which requests go to the provider: its generation paths, and nothing else.

A target is compared as it stands on the request line: no form of writing it differently reaches the provider.
"""

import re
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import unquote

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
_SIGNS = {
    Wire.ANTHROPIC: "/messages",
    Wire.GEMINI: "/models/",
    Wire.RESPONSES: "/responses",
    Wire.CHAT: "/chat/",
}
"""What a path holds that asks for a wire, also where it is not open."""
_KEYS = {"key", "access_token"}
"""What Gemini takes for a key in a query: the agent's is left out."""
_QUERIES = {"", "alt=sse", "beta=true"}
"""What agents ask in a query. Others (`alt=proto`, `fields=`) would have the answer in a form that can't be metered."""


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
        return LocalAnswer(HTTPStatus.BAD_REQUEST, "the request's target is not a plain path", RequestEnd.NOT_OPEN)
    path, _, query = target.partition("?")
    is_reading = method in {"GET", "HEAD"}
    if is_reading and path in _PROBES:
        return LocalAnswer(HTTPStatus.OK, "cellfarm")
    asked = [part for part in query.split("&") if unquote(part.partition("=")[0]).lower() not in _KEYS]
    kept = "&".join(asked)
    route = _generation(path, f"?{kept}" if kept else "")
    end = None if is_reading else RequestEnd.NOT_OPEN
    if route is None or route.wire not in wires:
        return LocalAnswer(HTTPStatus.NOT_FOUND, "this path is not open: only a model can be asked here", end)
    if method != "POST":
        return LocalAnswer(HTTPStatus.METHOD_NOT_ALLOWED, "a model is asked by POST", end)
    if not _QUERIES.issuperset(asked):
        return LocalAnswer(HTTPStatus.BAD_REQUEST, f"the query {kept[:100]!r} is not open here: leave it out", end)
    return route


def _generation(path: str, query: str) -> Route | None:
    wire = _PATHS.get(path)
    if wire is not None:
        return Route(wire, path + query)
    found = _GEMINI.fullmatch(path)
    if found is None:
        return None
    return Route(Wire.GEMINI, path + query, found[1], found[2] == "streamGenerateContent")


def dialect_of(target: str, wires: frozenset[Wire]) -> Wire:
    """Say whose errors a path's caller understands, when the path itself is not open."""
    if len(wires) == 1:
        return next(iter(wires))
    for wire, sign in _SIGNS.items():
        if wire in wires and sign in target:
            return wire
    return min(wires)
