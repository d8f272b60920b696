from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from farm.adapters.s3 import open_store
from farm.errors import SpecError, TransientError
from farm.ports import Store, StoreAccess
from tests.services.proxy import Exchange, Trick, a_proxy
from tests.services.s3 import S3Server

KEY = "sweeps/s/claim.json"
CONFLICT = b"<Error><Code>ConditionalRequestConflict</Code><Message>again</Message></Error>"


class Once:
    """A trick that is played on the first PUT only."""

    def __init__(self, trick: Trick) -> None:
        self._trick = trick
        self.times = 0

    def __call__(self, exchange: Exchange) -> None:
        if exchange.method == "PUT":
            self.times += 1
            if self.times == 1:
                self._trick(exchange)


def cut(exchange: Exchange) -> None:
    exchange.is_cut = True


def conflict(exchange: Exchange) -> None:
    exchange.status, exchange.answer = 409, CONFLICT


@pytest.fixture
def prefix(s3_server: S3Server) -> str:
    return s3_server.fresh_prefix()


@contextmanager
def through(s3_server: S3Server, prefix: str, trick: Trick) -> Iterator[Store]:
    with a_proxy(s3_server.port, trick) as proxy:
        yield open_store(f"s3://{s3_server.bucket}/{prefix}", s3_server.access_through(proxy.port))


@pytest.fixture
def plain(s3_server: S3Server, prefix: str) -> Store:
    return open_store(f"s3://{s3_server.bucket}/{prefix}", s3_server.access)


def test_check_refuses_a_server_that_ignores_if_none_match(s3_server: S3Server, prefix: str) -> None:
    def forget(exchange: Exchange) -> None:
        if exchange.method == "PUT":
            s3_server.remove(exchange.path)  # what is not there can't refuse: the write goes through

    with through(s3_server, prefix, forget) as store, pytest.raises(SpecError, match="If-None-Match"):
        store.check()


def test_check_refuses_a_server_that_says_no_and_overwrites_all_the_same(s3_server: S3Server, prefix: str) -> None:
    def overwrite(exchange: Exchange) -> None:
        if exchange.method == "GET":
            s3_server.overwrite(exchange.path.removeprefix(f"/{s3_server.bucket}/"), b"second\n")

    with through(s3_server, prefix, overwrite) as store, pytest.raises(SpecError, match="If-None-Match"):
        store.check()


def test_check_leaves_no_probe_behind(s3_server: S3Server, prefix: str) -> None:
    seen: list[str] = []
    with through(s3_server, prefix, lambda exchange: seen.append(exchange.method)) as store:
        store.check()
    assert seen[-1] == "DELETE"


def test_a_conflict_is_tried_again(s3_server: S3Server, prefix: str, plain: Store) -> None:
    once = Once(conflict)
    with through(s3_server, prefix, once) as store:
        assert store.records.create(KEY, b"mine")
    assert once.times == 2
    assert plain.records.read(KEY) == b"mine"


def test_a_write_whose_answer_was_lost_counts_as_ours(s3_server: S3Server, prefix: str, plain: Store) -> None:
    once = Once(cut)
    with through(s3_server, prefix, once) as store:
        assert store.records.create(KEY, b"mine")
    assert once.times == 2
    assert plain.records.read(KEY) == b"mine"


def test_a_lost_answer_does_not_make_anothers_record_ours(s3_server: S3Server, prefix: str, plain: Store) -> None:
    assert plain.records.create(KEY, b"theirs")
    with through(s3_server, prefix, Once(cut)) as store:
        assert not store.records.create(KEY, b"mine")
    assert plain.records.read(KEY) == b"theirs"


def test_a_create_that_gave_up_is_known_when_it_is_asked_again(s3_server: S3Server, prefix: str) -> None:
    broken = True

    def cut_while_broken(exchange: Exchange) -> None:
        exchange.is_cut = broken

    with through(s3_server, prefix, cut_while_broken) as store:
        with pytest.raises(TransientError, match="6 tries"):
            store.records.create(KEY, b"mine")
        broken = False
        assert store.records.create(KEY, b"mine")


def test_a_blob_whose_answer_was_lost_is_stored(s3_server: S3Server, prefix: str, plain: Store) -> None:
    with through(s3_server, prefix, Once(cut)) as store:
        digest = store.blobs.put(b"bytes")
    assert plain.blobs.get(digest) == b"bytes"


def test_bytes_changed_on_the_way_are_not_stored(s3_server: S3Server, prefix: str, plain: Store) -> None:
    def flip(exchange: Exchange) -> None:
        if exchange.method == "PUT":
            exchange.body = exchange.body[:-1] + b"?"

    with through(s3_server, prefix, flip) as store, pytest.raises((TransientError, SpecError)):
        store.records.create(KEY, b"precious")
    assert plain.records.read(KEY) is None


def test_a_server_error_is_tried_again(s3_server: S3Server, prefix: str) -> None:
    def unavailable(exchange: Exchange) -> None:
        exchange.status, exchange.answer = 503, b"<Error><Code>SlowDown</Code></Error>"

    with through(s3_server, prefix, Once(unavailable)) as store:
        assert store.records.create(KEY, b"mine")


def test_wrong_keys_are_the_persons_to_change(s3_server: S3Server, prefix: str) -> None:
    for wrong in (
        replace(s3_server.access, secret_key="wrong"),  # noqa: S106 (no real secret)
        replace(s3_server.access, access_key="nobody"),
    ):
        store = open_store(f"s3://{s3_server.bucket}/{prefix}", wrong)
        with pytest.raises(SpecError, match="FARM_S3_ACCESS_KEY"):
            store.check()


def test_half_a_key_pair_is_refused_at_once() -> None:
    with pytest.raises(SpecError, match="FARM_S3_SECRET_KEY"):
        open_store("s3://farm/x", StoreAccess(access_key="a"))


def test_an_unknown_bucket_is_the_persons_to_change(s3_server: S3Server, prefix: str) -> None:
    def unknown(exchange: Exchange) -> None:  # SeaweedFS itself would make the bucket
        exchange.status, exchange.answer = 404, b"<Error><Code>NoSuchBucket</Code></Error>"

    with through(s3_server, prefix, unknown) as store, pytest.raises(SpecError, match="make the bucket"):
        store.check()


def test_a_server_that_is_down_is_a_transient_error() -> None:
    access = StoreAccess("http://127.0.0.1:9", "us-east-1", access_key="a", secret_key="b")  # noqa: S106 (no real one)
    with pytest.raises(TransientError, match=r"127\.0\.0\.1:9"):
        open_store("s3://farm/x", access).records.read(KEY)


@pytest.mark.parametrize("url", ["s3://", "s3:///x", "http://farm/x", "s3://key:secret@farm/x", "s3://farm/x?y=z"])
def test_a_url_that_is_not_a_buckets_is_refused(url: str) -> None:
    with pytest.raises(SpecError, match="s3://bucket/prefix"):
        open_store(url, StoreAccess())
