"""Whose fault a provider's error is, by its status and by what it says of itself.

What must stay true: no agent can make its own failure look like its provider's. So a status that a request may earn by
what it asks (400, 403, 404, 429) speaks of our key or account only where the error's own type, code or reason does.
"""

import json
from dataclasses import dataclass
from http import HTTPStatus

from pydantic import JsonValue

from farm.model import RequestEnd
from farm.redaction import first_words

_MOST_MESSAGE = 256
_DENIED = {
    # Anthropic
    "authentication_error",
    "billing_error",
    "permission_error",
    # OpenAI
    "access_terminated",
    "account_deactivated",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_permissions",
    "insufficient_quota",
    "invalid_api_key",
    "invalid_organization",
    "unsupported_country_region_territory",
    # Gemini
    "api_key_invalid",
    "api_key_expired",
    "api_key_service_blocked",
    "billing_disabled",
    "consumer_invalid",
    "consumer_suspended",
    "service_disabled",
    "unauthenticated",
}
_DENIED_IN_WORDS = (
    "your credit balance is too low",  # Anthropic, 400 invalid_request_error
    "you have reached your specified api usage limits",  # the same
    "api key not valid",  # Gemini, 400 INVALID_ARGUMENT
    "your api key was reported as leaked",  # Gemini, 403 PERMISSION_DENIED
    "user location is not supported",  # Gemini, 400 FAILED_PRECONDITION
)
"""Where nothing but the beginning of the message says it."""
_UNKNOWN_MODEL = ("model:", "models/", "the model ")
"""How a message begins that says that there is no such model: Anthropic's, Gemini's, OpenAI's."""


@dataclass(frozen=True, slots=True)
class SaidError:
    """An error as the provider says it."""

    words: frozenset[str]
    """Its types, codes and reasons, in lower case; (): it is in no form that we know."""
    message: str | None

    @property
    def denies(self) -> bool:
        """Say whether it is about our key or our account."""
        return bool(self.words & _DENIED) or (self.message or "").lower().startswith(_DENIED_IN_WORDS)


def read_error(error: JsonValue) -> SaidError:
    """Read an error object of any wire."""
    if not isinstance(error, dict):
        return SaidError(frozenset(), first_words(error, _MOST_MESSAGE) if isinstance(error, str) else None)
    details = error.get("details")
    reasons = [one.get("reason") for one in details if isinstance(one, dict)] if isinstance(details, list) else []
    stated = [error.get("type"), error.get("code"), error.get("status"), *reasons]
    message = error.get("message")
    return SaidError(
        frozenset(str(word).lower() for word in stated if isinstance(word, str | int)),
        first_words(message, _MOST_MESSAGE) if isinstance(message, str) else None,
    )


def read_error_body(data: bytes) -> SaidError:
    """Read an error's body; of one in no known form, its beginning is the message."""
    try:
        body: JsonValue = json.loads(data)
    except (ValueError, RecursionError):
        body = None
    if isinstance(body, list) and body:
        body = body[0]  # as Gemini does where an array was asked for
    if isinstance(body, dict):
        said = read_error(body.get("error", body))
        if said.message is not None:
            return said
    return SaidError(frozenset(), first_words(data[: 8 * _MOST_MESSAGE].decode("utf-8", "replace"), _MOST_MESSAGE))


def end_of_error(status: int, said: SaidError, *, is_pinned: bool) -> RequestEnd:
    """Say how a request ended that was answered with `status`; `is_pinned`: its plan named the model."""
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.REQUEST_TIMEOUT:
        return RequestEnd.UNAVAILABLE
    if said.denies or status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED}:
        return RequestEnd.DENIED
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RequestEnd.RATE_LIMITED
    if status == HTTPStatus.NOT_FOUND and not said.words:
        return RequestEnd.DENIED  # no provider's words: its URL is wrong
    is_unknown = "model_not_found" in said.words or (
        status == HTTPStatus.NOT_FOUND and (said.message or "").lower().startswith(_UNKNOWN_MODEL)
    )
    return RequestEnd.DENIED if is_unknown and is_pinned else RequestEnd.REJECTED


def end_of_told(said: SaidError) -> RequestEnd:
    """Say how a request ended whose answer tells an error under a status that tells none."""
    words = " ".join(said.words)
    if said.denies:
        return RequestEnd.DENIED
    if "rate_limit" in words or "resource_exhausted" in words or "429" in words:
        return RequestEnd.RATE_LIMITED
    if any(word in words for word in ("overloaded", "server_error", "api_error", "unavailable", "internal", "timeout")):
        return RequestEnd.UNAVAILABLE
    return RequestEnd.REJECTED
