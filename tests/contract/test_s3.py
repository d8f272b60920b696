from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from farm.adapters.s3 import open_store
from farm.model import Digest
from farm.ports import Store
from farm.testing.stores import SharedStoreSuite
from tests.services.s3 import S3Server


@pytest.fixture
def prefix(s3_server: S3Server) -> str:
    return s3_server.fresh_prefix()


@pytest.fixture
def opener(s3_server: S3Server, prefix: str):
    return partial(open_store, f"s3://{s3_server.bucket}/{prefix}", s3_server.access)


@pytest.fixture
def store(opener):
    return opener()


class TestS3Store(SharedStoreSuite):
    race_turns = 3  # SeaweedFS waits whole seconds for a contended key

    @pytest.fixture
    def opener(self, opener):
        return opener

    @pytest.fixture
    def store(self, opener):
        return opener()

    @pytest.fixture
    def damage(self, s3_server: S3Server, prefix: str) -> Callable[[Digest, bytes], None]:
        def damage(digest: Digest, body: bytes) -> None:
            s3_server.overwrite(f"{prefix}/blobs/sha256/{digest[:2]}/{digest}", body)

        return damage


def test_more_keys_than_one_page_are_listed_in_order(store: Store) -> None:
    keys = sorted(f"many/{number % 3}{'-/'[number % 2]}{number:05d}.json" for number in range(1005))
    with ThreadPoolExecutor(16) as threads:
        list(threads.map(lambda key: store.records.create(key, b"{}"), keys))
    assert list(store.records.keys("many/")) == keys


def test_a_file_above_the_part_limit_goes_in_parts_and_comes_back(store: Store, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    with source.open("wb") as file:
        for number in range(66):
            file.write(bytes([number]) * (1 << 20))
    digest = store.blobs.put_file(source)
    store.blobs.fetch(digest, target)
    assert target.stat().st_size == 66 << 20
    assert store.blobs.put_file(source) == digest
