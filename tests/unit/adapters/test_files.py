import stat
from pathlib import Path

import pytest

from farm.adapters.files import FileStore, open_store
from farm.errors import IntegrityError, SpecError, TransientError
from farm.model import Digest
from farm.ports import StoreAccess

KEY = "sweeps/s/plan.json"


def test_stored_files_are_read_only_and_leave_nothing_temporary(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.blobs.put(b"x")
    store.records.create(KEY, b"{}")
    store.records.create(KEY, b"[]")
    for path in (tmp_path / "blobs" / "sha256" / digest[:2] / digest, tmp_path / KEY):
        assert stat.S_IMODE(path.stat().st_mode) & 0o333 == 0
    assert list((tmp_path / "tmp").iterdir()) == []


def test_what_a_killed_writer_left_behind_disturbs_nobody(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp" / "0123456789abcdef01234567").write_bytes(b"half a rec")
    store = FileStore(tmp_path)
    assert store.records.create(KEY, b"{}")
    assert list(store.records.keys("")) == [KEY]


def test_a_shortened_blob_is_found_when_it_is_put_again(tmp_path: Path) -> None:
    store = FileStore(tmp_path)
    digest = store.blobs.put(b"precious bytes")
    path = tmp_path / "blobs" / "sha256" / digest[:2] / digest
    path.unlink()
    path.write_bytes(b"precious")
    with pytest.raises(IntegrityError, match=digest):
        store.blobs.put(b"precious bytes")


def test_a_root_that_is_a_file_is_the_persons_to_change(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(SpecError, match="must be a folder"):
        FileStore(tmp_path / "file").check()


def test_a_target_that_cannot_be_written_is_a_transient_error(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "store")
    digest = store.blobs.put(b"x")
    with pytest.raises(TransientError, match="could not be written"):
        store.blobs.fetch(digest, tmp_path / "no such folder" / "target")


@pytest.mark.parametrize("url", ["file://host/x", "file:relative", "file:///a/../b", "s3://a/b", "/a/b"])
def test_a_url_that_is_not_a_folders_is_refused(url: str) -> None:
    with pytest.raises(SpecError, match="file:///"):
        open_store(url, StoreAccess())


def test_a_url_with_blanks_opens_the_folder_that_it_names(tmp_path: Path) -> None:
    store = open_store((tmp_path / "a b").as_uri(), StoreAccess())
    assert store.blobs.put(b"x") == Digest.of(b"x")
    assert (tmp_path / "a b" / "blobs").is_dir()
    assert store.url == (tmp_path / "a b").as_uri()
