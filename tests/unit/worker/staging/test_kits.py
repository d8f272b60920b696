"""Kits: laid out once, whole, readable by every slot and writable by none."""

from pathlib import Path

from farm.model import Digest
from worker.session import Kit
from worker.staging.kits import ready_kit

KIT = Kit(Digest.of(b"kit"), {"a.py": b"A = 1\n", "b/c.py": b"C = 2\n", "b/bad.py": b"not python at all\n"})


def test_a_kit_is_laid_out_by_its_digest_and_compiled(tmp_path: Path) -> None:
    path = ready_kit(tmp_path, tmp_path, KIT)
    assert path == tmp_path / KIT.digest
    assert {name: (path / name).read_bytes() for name in KIT.files} == KIT.files
    assert len(list(path.rglob("*.pyc"))) == 2
    assert {entry.stat().st_mode & 0o777 for entry in path.rglob("*")} == {0o644, 0o755}
    assert list(tmp_path.iterdir()) == [path]


def test_a_kit_that_is_there_is_used_as_it_is(tmp_path: Path) -> None:
    first = ready_kit(tmp_path, tmp_path, KIT).stat()
    assert ready_kit(tmp_path, tmp_path, KIT).stat() == first
