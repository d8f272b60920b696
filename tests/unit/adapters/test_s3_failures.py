import pytest
from botocore.exceptions import (
    ClientError,
    EndpointConnectionError,
    IncompleteReadError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)

from farm.adapters.s3.failures import Answer, meaning, refusal


def told(code: str, status: int) -> ClientError:
    return ClientError({"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, "PutObject")


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (told("PreconditionFailed", 412), Answer.EXISTS),
        (told("412", 412), Answer.EXISTS),
        (told("NoSuchKey", 404), Answer.MISSING),
        (told("404", 404), Answer.MISSING),
        (told("NoSuchBucket", 404), Answer.REFUSED),
        (told("ConditionalRequestConflict", 409), Answer.AGAIN),
        (told("SlowDown", 503), Answer.AGAIN),
        (told("Whatever", 500), Answer.AGAIN),
        (told("AccessDenied", 403), Answer.REFUSED),
        (told("InvalidArgument", 400), Answer.REFUSED),
        (EndpointConnectionError(endpoint_url="http://x"), Answer.AGAIN),
        (ReadTimeoutError(endpoint_url="http://x"), Answer.AGAIN),
        (IncompleteReadError(actual_bytes=1, expected_bytes=2), Answer.AGAIN),
        (NoCredentialsError(), Answer.REFUSED),
        (ParamValidationError(report="bucket"), Answer.REFUSED),
    ],
)
def test_a_failure_says_what_to_do_next(failure: Exception, expected: Answer) -> None:
    assert meaning(failure) is expected


@pytest.mark.parametrize(
    ("failure", "setting"),
    [
        (NoCredentialsError(), "FARM_S3_ACCESS_KEY and FARM_S3_SECRET_KEY"),
        (told("SignatureDoesNotMatch", 403), "FARM_S3_SECRET_KEY"),
        (told("PermanentRedirect", 301), "FARM_S3_REGION"),
        (told("NoSuchBucket", 404), "make the bucket"),
        (told("RequestTimeTooSkewed", 403), "clock"),
        (told("InvalidArgument", 400), "FARM_S3_PATH_STYLE"),
        (ParamValidationError(report="Invalid bucket name"), "bucket's name"),
    ],
)
def test_a_refusal_says_which_setting_to_change(failure: Exception, setting: str) -> None:
    assert setting in str(refusal(failure, "s3://farm/x"))
