"""What an S3 server's answers mean to us, and how often we ask again.

botocore's own retries are off: only this loop knows that an earlier try may have been carried out without our
hearing of it, which is what makes a later "it is there already" ambiguous.
"""

import random
import time
from collections.abc import Callable
from enum import Enum, auto
from typing import TypeVar

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    HTTPClientError,
    IncompleteReadError,
    NoCredentialsError,
    PartialCredentialsError,
)
from botocore.exceptions import ConnectionError as BotoConnectionError
from botocore.parsers import ResponseParserError

from farm.errors import FarmError, RefusedError, TransientError

_TRIES = 6
_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0
_SERVER_ERROR = 500
_TRANSIENT = {
    "BadDigest",
    "ConditionalRequestConflict",
    "IncompleteBody",
    "InternalError",
    "NoSuchUpload",
    "OperationAborted",
    "RequestTimeout",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "TooManyRequests",
    "XAmzContentChecksumMismatch",
    "XAmzContentSHA256Mismatch",
    "408",
    "409",
    "429",
}
_MISSING = {"404", "NoSuchKey", "NotFound"}
_KEYS = "see to FARM_S3_ACCESS_KEY, FARM_S3_SECRET_KEY and the bucket's policy"
_PLACE = "see to FARM_S3_REGION and FARM_S3_ENDPOINT_URL"
_ADVICE = {
    "301": _PLACE,
    "403": _KEYS,
    "AccessDenied": _KEYS,
    "AuthorizationHeaderMalformed": _PLACE,
    "ExpiredToken": _KEYS,
    "InvalidAccessKeyId": _KEYS,
    "InvalidToken": _KEYS,
    "NoSuchBucket": "make the bucket, or correct the store's URL or FARM_S3_ENDPOINT_URL",
    "PermanentRedirect": _PLACE,
    "RequestTimeTooSkewed": "set this machine's clock right",
    "SignatureDoesNotMatch": _KEYS,
}

R = TypeVar("R")
Failure = BotoCoreError | ClientError | ResponseParserError
FAILURES = (BotoCoreError, ClientError, ResponseParserError)
_TRANSPORT = (HTTPClientError, BotoConnectionError, IncompleteReadError, ResponseParserError)


class Answer(Enum):
    """What a failed call means."""

    EXISTS = auto()
    MISSING = auto()
    AGAIN = auto()
    REFUSED = auto()


def meaning(failure: Failure) -> Answer:
    """Class a failure by what the caller does next."""
    if not isinstance(failure, ClientError):
        return Answer.AGAIN if isinstance(failure, _TRANSPORT) else Answer.REFUSED
    code = _code(failure)
    if code in {"412", "PreconditionFailed"}:
        return Answer.EXISTS
    if code in _MISSING:
        return Answer.MISSING
    status = failure.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return Answer.AGAIN if code in _TRANSIENT or status >= _SERVER_ERROR else Answer.REFUSED


def refusal(failure: Failure, where: str) -> FarmError:
    """Say what the person must change."""
    if isinstance(failure, (NoCredentialsError, PartialCredentialsError)):
        return RefusedError(f"{where} needs credentials; set FARM_S3_ACCESS_KEY and FARM_S3_SECRET_KEY")
    if not isinstance(failure, ClientError):
        return RefusedError(
            f"{where} can't be asked: {failure}; see to FARM_S3_ENDPOINT_URL, FARM_S3_REGION and the bucket's name"
        )
    code = _code(failure)
    advice = _ADVICE.get(code, "see to FARM_S3_ENDPOINT_URL and FARM_S3_PATH_STYLE")
    return RefusedError(f"{where} refused the request ({code}): {advice}; the server said: {failure}")


def persistently(where: str, call: Callable[[], R]) -> R | None:
    """Make an idempotent call until it is answered; None when what it asks for is missing."""
    tries = Tries(where)
    while True:
        try:
            return call()
        except FAILURES as failure:
            if meaning(failure) is Answer.MISSING:
                return None
            tries.failed(failure)


class Tries:
    """A bounded run of tries with growing, jittered pauses."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._made = 0

    @property
    def were_made(self) -> bool:
        """Say whether a try failed before: it may have had its effect all the same."""
        return self._made > 0

    def failed(self, failure: Failure) -> None:
        """Wait before the next try; raise when there is none, or it would be in vain."""
        if meaning(failure) is not Answer.AGAIN:
            raise refusal(failure, self._where) from failure
        self._made += 1
        if self._made == _TRIES:
            raise TransientError(
                f"{self._where} did not carry out a request in {_TRIES} tries: {failure}", retry_after_s=5.0
            ) from failure
        longest = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * float(2**self._made))
        time.sleep(random.uniform(longest / 2, longest))  # noqa: S311 (jitter, not a secret)


def _code(failure: ClientError) -> str:
    return str(failure.response.get("Error", {}).get("Code", ""))
