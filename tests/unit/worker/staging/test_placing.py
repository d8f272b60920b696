"""Folders that are made once a host: whole, by whoever is first, or not at all."""

from pathlib import Path

import pytest

from worker.staging.placing import place_once


@pytest.fixture
def drafts(tmp_path: Path) -> Path:
    (tmp_path / "drafts").mkdir()
    return tmp_path / "drafts"


def test_a_folder_that_is_there_is_not_made_again(tmp_path: Path, drafts: Path) -> None:
    for word in ("first", "second"):
        place_once(tmp_path / "it", drafts, lambda draft, word=word: (draft / word).touch())
    assert [path.name for path in (tmp_path / "it").iterdir()] == ["first"]
    assert list(drafts.iterdir()) == []


def test_who_is_late_drops_his(tmp_path: Path, drafts: Path) -> None:
    def fill(draft: Path) -> None:
        (draft / "late").touch()
        place_once(tmp_path / "it", drafts, lambda other: (other / "sooner").touch())

    place_once(tmp_path / "it", drafts, fill)
    assert [path.name for path in (tmp_path / "it").iterdir()] == ["sooner"]
    assert list(drafts.iterdir()) == []


def test_one_that_can_not_be_put_in_its_place_is_told(tmp_path: Path, drafts: Path) -> None:
    with pytest.raises(FileNotFoundError):
        place_once(tmp_path / "gone/it", drafts, lambda draft: (draft / "file").touch())
    assert list(drafts.iterdir()) == []


def test_what_breaks_half_way_leaves_nothing(tmp_path: Path, drafts: Path) -> None:
    def fill(draft: Path) -> None:
        (draft / "half").touch()
        raise KeyError(draft)

    with pytest.raises(KeyError):
        place_once(tmp_path / "it", drafts, fill)
    assert not (tmp_path / "it").exists()
    assert list(drafts.iterdir()) == []
