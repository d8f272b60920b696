"""How the gateway's own answers read on each wire, so that an agent shows them as it shows its provider's."""

import json
from http import HTTPStatus
from typing import assert_never

from farm.model import Wire

_ANTHROPIC = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_GEMINI = {
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def error_body(wire: Wire, status: int, message: str) -> bytes:
    """Write an error as the wire's provider would."""
    match wire:
        case Wire.ANTHROPIC:
            kind = _ANTHROPIC.get(status, "invalid_request_error")
            return _json({"type": "error", "error": {"type": kind, "message": message}})
        case Wire.RESPONSES | Wire.CHAT:
            kind = "server_error" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
            return _json({"error": {"message": message, "type": kind, "param": None, "code": None}})
        case Wire.GEMINI:
            state = _GEMINI.get(status, "INVALID_ARGUMENT")
            return _json({"error": {"code": status, "message": message, "status": state}})
        case _:
            assert_never(wire)


def _json(body: object) -> bytes:
    return json.dumps(body).encode()
