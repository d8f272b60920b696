from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from farm.adapters.s3.bucket import Bucket
from farm.errors import IntegrityError
from farm.model import Digest
from tests.services.proxy import Exchange, a_proxy
from tests.services.s3 import S3Server

KEY = "large"
BODY = b"0123456789abcdef" * (18 << 16)
DIGEST = Digest.of(BODY)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.write_bytes(BODY)
    return path


class Journal:
    """Notes every request, and answers the n-th part by a server error."""

    def __init__(self, failing_part: int = 0) -> None:
        self.requests: list[Exchange] = []
        self._failing_part = failing_part

    def __call__(self, exchange: Exchange) -> None:
        self.requests.append(exchange)
        if exchange.method == "PUT" and self.count("PUT") == self._failing_part:
            exchange.status = 500

    def count(self, method: str) -> int:
        return sum(exchange.method == method for exchange in self.requests)


@contextmanager
def a_bucket(s3_server: S3Server, journal: Journal) -> Iterator[Bucket]:
    with a_proxy(s3_server.port, journal) as proxy:
        yield Bucket(s3_server.bucket, s3_server.fresh_prefix(), s3_server.access_through(proxy.port))


def test_a_failed_part_starts_the_upload_over_and_leaves_none_open(s3_server: S3Server, source: Path) -> None:
    journal = Journal(failing_part=2)
    with a_bucket(s3_server, journal) as bucket, source.open("rb") as file:
        bucket.create_in_parts(KEY, file, DIGEST)
        assert bucket.digest(KEY) == DIGEST
    assert journal.count("PUT") == 4
    assert journal.count("DELETE") == 1


def test_an_object_that_is_there_is_kept(s3_server: S3Server, source: Path) -> None:
    journal = Journal()
    with a_bucket(s3_server, journal) as bucket, source.open("rb") as file:
        assert bucket.create(KEY, b"first", Digest.of(b"first"))
        bucket.create_in_parts(KEY, file, DIGEST)
        assert bucket.digest(KEY) == Digest.of(b"first")
    assert journal.count("DELETE") == 1


def test_a_file_that_changed_under_way_is_not_stored(s3_server: S3Server, source: Path) -> None:
    with a_bucket(s3_server, Journal()) as bucket, source.open("rb") as file:
        with pytest.raises(IntegrityError):
            bucket.create_in_parts(KEY, file, Digest.of(b"what it was before"))
        assert bucket.size(KEY) is None
