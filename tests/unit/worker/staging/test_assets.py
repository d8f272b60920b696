"""Assets: laid out once, whole, readable by every slot and writable by none."""

import io
import tarfile
from pathlib import Path

import pytest

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from tests.builders.worker.farm import a_tar
from worker.staging.assets import ready_asset

FILES = {"server.py": "print(1)\n", "lib/run.sh": "#!/bin/sh\n"}


def test_an_asset_is_laid_out_by_its_digest(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    digest = blobs.put(a_tar(FILES))
    path = ready_asset(tmp_path, tmp_path, digest, blobs)
    assert path == tmp_path / digest
    assert {name: (path / name).read_text() for name in FILES} == FILES
    modes = {str(entry.relative_to(path)): entry.stat().st_mode & 0o777 for entry in path.rglob("*")}
    assert modes == {"server.py": 0o644, "lib": 0o755, "lib/run.sh": 0o755}
    assert list(tmp_path.iterdir()) == [path]


def test_an_asset_that_is_there_is_used_without_its_bytes(tmp_path: Path) -> None:
    blobs = MemoryBlobs()
    digest = blobs.put(a_tar(FILES))
    first = ready_asset(tmp_path, tmp_path, digest, blobs).stat()
    assert ready_asset(tmp_path, tmp_path, digest, MemoryBlobs()).stat() == first


def test_a_tar_that_leaves_its_folder_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    blobs, stream = MemoryBlobs(), io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("../out"))
    digest = blobs.put(stream.getvalue())
    with pytest.raises(SpecError, match="can't be unpacked"):
        ready_asset(tmp_path / "assets", tmp_path, digest, blobs)
    assert list(tmp_path.iterdir()) == []
