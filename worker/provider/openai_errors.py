"""The form of errors that both of OpenAI's wires have."""

from pydantic import JsonValue

from worker.provider.script import Refusal

_ERRORS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_SERVERS = 500


def error_body(refusal: Refusal) -> dict[str, JsonValue]:
    """Give an error's body."""
    ours = "server_error" if refusal.status >= _SERVERS else "invalid_request_error"
    kind = refusal.type or _ERRORS.get(refusal.status, ours)
    return {"error": {"message": refusal.message, "type": kind, "param": None, "code": None}}
