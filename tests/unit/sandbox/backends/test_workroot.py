"""The work root is trusted, or refused."""

import os

import pytest

from sandbox.backends import workroot
from sandbox.errors import SandboxUnavailableError
from tests.builders.sandbox_rooms import work_root


def test_a_work_root_that_others_may_change_is_refused():
    place = work_root() / "open"
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(SandboxUnavailableError, match="chmod 0755"):
        workroot.ready(place)


def test_a_work_root_is_made_where_there_is_none():
    assert workroot.ready(work_root() / "a" / "b").is_dir()


def test_slots_of_other_users_can_pass_through_it_whatever_the_umask():
    before = os.umask(0o077)
    try:
        root = workroot.ready(work_root() / "of-a-careful-user")
        etc = workroot.write_etc(root / "etc", {"hosts": "a\n"})
    finally:
        os.umask(before)
    assert [folder.stat().st_mode & 0o777 for folder in (root, etc)] == [0o755, 0o755]


def test_a_place_that_can_not_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SandboxUnavailableError, match="can't be made"):
        workroot.ready(tmp_path / "file" / "root")


def test_etc_files_are_written_once(tmp_path):
    workroot.write_etc(tmp_path, {"hosts": "a\n"})
    before = (tmp_path / "hosts").stat()
    workroot.write_etc(tmp_path, {"hosts": "a\n"})
    assert (tmp_path / "hosts").stat() == before
    workroot.write_etc(tmp_path, {"hosts": "b\n"})
    assert (tmp_path / "hosts").read_text() == "b\n"
