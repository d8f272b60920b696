"""Hidden files that a check starts as programs."""

from pathlib import Path

import pytest

from farm.adapters.memory.store import MemoryBlobs
from farm.errors import SpecError
from tests.builders.planning import SWEEP, a_sweep, planned

EXECUTING = SWEEP.replace("kind: check", "kind: executing")


def refused(file: Path) -> str:
    blobs = MemoryBlobs()
    with pytest.raises(SpecError) as caught:
        planned(file, blobs)
    assert blobs.bodies == {}
    return str(caught.value)


def a_check(folder: Path) -> Path:
    place = folder / "oracle" / "bin" / "check"
    place.parent.mkdir()
    place.write_text("#!/bin/sh\n")
    return place


def test_case_88_a_check_that_lost_its_executable_bit_is_refused_before_anything_is_paid(tmp_path: Path) -> None:
    file = a_sweep(tmp_path, EXECUTING)
    check = a_check(tmp_path)
    said = refused(file)
    assert "tasks[0].oracle.files: the check starts" in said
    assert "bin/check, which is not executable; run `chmod +x` on it" in said
    check.chmod(0o755)
    assert planned(file).tasks[0].oracle.files is not None


def test_a_check_that_is_not_among_the_hidden_files_is_refused(tmp_path: Path) -> None:
    assert "the check starts 'bin/check', and" in refused(a_sweep(tmp_path, EXECUTING))
