import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.plugins import Plugins


class Good:
    pass


def test_a_given_plug_in_is_loaded_by_group_and_name() -> None:
    assert Plugins({"agents": {"good": Good}}).load("agents", "good") is Good


def test_given_plug_ins_replace_the_installed_ones() -> None:
    assert Plugins({"agents": {"good": Good}}).names("agents") == ("good",)
    assert Plugins({"agents": {"good": Good}}).names("oracles") == ()


def test_an_unknown_name_is_refused_with_the_nearest_and_all_names() -> None:
    with pytest.raises(SpecError) as caught:
        Plugins({"agents": {"scripted": Good, "command": Good}}).load("agents", "scriptd")
    assert str(caught.value) == (
        "there is no plug-in 'scriptd' among the agents; did you mean 'scripted'? known are: command, scripted"
    )


def test_an_unknown_name_far_from_all_gets_no_guess() -> None:
    with pytest.raises(SpecError) as caught:
        Plugins({"gates": {"overlay": Good}}).load("gates", "zzz")
    assert str(caught.value) == "there is no plug-in 'zzz' among the gates; known are: overlay"


def test_an_empty_group_says_that_nothing_is_installed() -> None:
    with pytest.raises(SpecError, match="none is installed"):
        Plugins({}).load("stores", "file")


def test_the_installed_plug_ins_are_found_without_importing_them() -> None:
    assert {"command", "scripted"} <= set(Plugins().names("agents"))
    Plugins().check("agents", "scripted")


@pytest.fixture
def _foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution whose one agent works and whose other agent can't be imported."""
    (tmp_path / "foreign_plugin.py").write_text("class Agent:\n    pass\n")
    folder = tmp_path / "foreign-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: foreign\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(
        "[farm.agents]\nforeign = foreign_plugin:Agent\nbroken = foreign_missing:Agent\nhollow = json:Nothing\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("_foreign")
def test_an_outsiders_plug_in_is_found_by_its_entry_point() -> None:
    assert "foreign_plugin" not in sys.modules
    plugins = Plugins()
    found = plugins.load("agents", "foreign")
    assert found.__name__ == "Agent"
    assert plugins.load("agents", "foreign") is found
    del sys.modules["foreign_plugin"]


@pytest.mark.usefixtures("_foreign")
@pytest.mark.parametrize("name", ["broken", "hollow"])
def test_a_plug_in_that_cannot_be_imported_names_its_package(name: str) -> None:
    with pytest.raises(SpecError, match=r"package foreign\)"):
        Plugins().load("agents", name)


def test_every_group_of_the_project_has_its_plug_ins_installed() -> None:
    found = {group: Plugins().names(group) for group in ("agents", "programs", "oracles", "gates", "stores")}
    assert all(found.values()), json.dumps(found)
    assert metadata.distribution("cellfarm").name == "cellfarm"
