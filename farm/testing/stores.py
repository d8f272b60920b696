# ruff: noqa: S101 (a suite of tests, run by pytest in somebody's test folder)
"""What every store must do. Subclass a suite in your tests and override its fixtures."""

import multiprocessing
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from farm.errors import IntegrityError, SpecError
from farm.model import Digest
from farm.ports import Store
from farm.testing.hooks import not_given
from farm.testing.racing import at_once

ABSENT = Digest.of(b"never stored")


class StoreSuite:
    """Any store. Each test gets an empty one."""

    race_turns = 10
    """How often a race is run; fewer for a server that is slow under contention."""

    @pytest.fixture
    def store(self) -> Store:
        """Give an empty store."""
        not_given("store")

    @pytest.fixture
    def damage(self) -> Callable[[Digest, bytes], None]:
        """Give a way to replace a stored blob's bytes behind the store's back."""
        not_given("damage")

    def test_check_accepts_a_sound_store(self, store: Store) -> None:
        store.check()
        store.check()
        assert list(store.records.keys("")) == []

    @pytest.mark.parametrize("body", [b"", b"x", b"\0\xff" * 4096])
    def test_a_blob_comes_back_as_it_went(self, store: Store, body: bytes) -> None:
        digest = store.blobs.put(body)
        assert digest == Digest.of(body)
        assert store.blobs.get(digest) == body

    def test_a_blob_is_stored_once_however_often_it_is_put(self, store: Store, tmp_path: Path) -> None:
        source = tmp_path / "source"
        source.write_bytes(b"same")
        assert store.blobs.put(b"same") == store.blobs.put(b"same") == store.blobs.put_file(source)
        assert store.blobs.get(Digest.of(b"same")) == b"same"

    def test_a_file_goes_in_and_comes_out(self, store: Store, tmp_path: Path) -> None:
        source, target = tmp_path / "source", tmp_path / "target"
        source.write_bytes(b"line\n" * 500_000)
        store.blobs.fetch(store.blobs.put_file(source), target)
        assert target.read_bytes() == source.read_bytes()

    def test_fetch_replaces_what_stood_there(self, store: Store, tmp_path: Path) -> None:
        target = tmp_path / "target"
        target.write_bytes(b"old")
        store.blobs.fetch(store.blobs.put(b"new"), target)
        assert target.read_bytes() == b"new"
        assert list(tmp_path.iterdir()) == [target]

    def test_a_missing_blob_is_an_integrity_error_and_leaves_no_file(self, store: Store, tmp_path: Path) -> None:
        with pytest.raises(IntegrityError, match=ABSENT):
            store.blobs.get(ABSENT)
        with pytest.raises(IntegrityError, match=ABSENT):
            store.blobs.fetch(ABSENT, tmp_path / "target")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("wrong", [b"", b"precious byte", b"precious bytez", b"precious bytes and more"])
    def test_damaged_bytes_are_an_integrity_error_and_leave_no_file(
        self, store: Store, damage: Callable[[Digest, bytes], None], tmp_path: Path, wrong: bytes
    ) -> None:
        digest = store.blobs.put(b"precious bytes")
        damage(digest, wrong)
        with pytest.raises(IntegrityError, match=digest):
            store.blobs.get(digest)
        with pytest.raises(IntegrityError, match=digest):
            store.blobs.fetch(digest, tmp_path / "target")
        assert list(tmp_path.iterdir()) == []

    def test_a_record_is_written_once(self, store: Store) -> None:
        key = "sweeps/s/plan.json"
        assert store.records.read(key) is None
        assert store.records.create(key, b"first\n")
        assert not store.records.create(key, b"second\n")
        assert not store.records.create(key, b"first\n")
        assert store.records.read(key) == b"first\n"

    def test_an_empty_record_is_a_record(self, store: Store) -> None:
        assert store.records.create("sweeps/s/empty", b"")
        assert store.records.read("sweeps/s/empty") == b""
        assert not store.records.create("sweeps/s/empty", b"more")

    def test_keys_come_in_lexical_order_of_the_whole_key(self, store: Store) -> None:
        keys = ["s/a/b.json", "s/a-b.json", "s/a.json", "s/a0/x.json", "s/a/10.json", "s/a/9.json", "t/z.json"]
        for key in keys:
            assert store.records.create(key, b"{}")
        store.blobs.put(b"no record")
        assert list(store.records.keys("")) == sorted(keys)
        assert list(store.records.keys("s/a/")) == ["s/a/10.json", "s/a/9.json", "s/a/b.json"]
        assert list(store.records.keys("s/a")) == [key for key in sorted(keys) if key.startswith("s/a")]
        assert list(store.records.keys("u/")) == []

    @pytest.mark.parametrize(
        "key",
        ["", "/etc/passwd", "a/../b", "../b", "a//b", "a/", ".hidden", "a/./b", "a\\b", "a\0b", "blobs/x", "tmp/x"],
    )
    def test_a_key_that_means_different_things_in_different_stores_is_refused(self, store: Store, key: str) -> None:
        with pytest.raises(SpecError, match="record"):
            store.records.create(key, b"{}")
        with pytest.raises(SpecError, match="record"):
            store.records.read(key)

    def test_of_many_threads_one_creates(self, store: Store) -> None:
        bodies = [f"thread {number}\n".encode() * 50 for number in range(12)]
        for turn in range(self.race_turns):
            key = f"races/{turn}.json"
            won = at_once([partial(store.records.create, key, body) for body in bodies])
            assert won.count(True) == 1
            assert store.records.read(key) == bodies[won.index(True)]

    def test_a_reader_sees_all_of_a_record_or_nothing(self, store: Store) -> None:
        body = b"0123456789abcdef" * 8192
        for turn in range(5):
            key = f"reads/{turn}.json"
            read: Callable[[], object] = partial(store.records.read, key)
            create: Callable[[], object] = partial(store.records.create, key, body)
            seen = at_once([create, *[read] * 6])
            assert seen[0] is True
            assert set(seen[1:]) <= {None, body}

    def test_threads_that_put_the_same_blob_agree(self, store: Store) -> None:
        body = b"shared" * 1000
        assert set(at_once([partial(store.blobs.put, body)] * 8)) == {Digest.of(body)}
        assert store.blobs.get(Digest.of(body)) == body


class SharedStoreSuite(StoreSuite):
    """A store that other processes can open."""

    @pytest.fixture
    def opener(self) -> Callable[[], Store]:
        """Give a picklable function that opens the test's store in another process."""
        not_given("opener")

    def test_another_opening_sees_the_same_store(self, store: Store, opener: Callable[[], Store]) -> None:
        store.records.create("s/a.json", b"{}")
        digest = store.blobs.put(b"shared")
        other = opener()
        assert other.url == store.url
        assert other.records.read("s/a.json") == b"{}"
        assert not other.records.create("s/a.json", b"[]")
        assert other.blobs.get(digest) == b"shared"

    def test_of_many_processes_one_creates(self, store: Store, opener: Callable[[], Store]) -> None:
        keys = [f"races/{turn}.json" for turn in range(30)]
        with multiprocessing.get_context("spawn").Pool(4) as processes:
            won = processes.starmap(create_all, [(opener, keys, f"process {number}".encode()) for number in range(4)])
        for turn, key in enumerate(keys):
            winners = [number for number in range(4) if won[number][turn]]
            assert len(winners) == 1
            assert store.records.read(key) == f"process {winners[0]}".encode()


def create_all(opener: Callable[[], Store], keys: list[str], body: bytes) -> list[bool]:
    """Create every key in this process and tell which ones it won."""
    records = opener().records
    return [records.create(key, body) for key in keys]
