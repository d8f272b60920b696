"""What the farm leaves on a machine: nothing that it does not need again."""

from pathlib import Path

from tests.builders.farm_command import Desk


def test_init_without_git_says_so_and_makes_nothing(desk: Desk) -> None:
    ended = desk.farm("init", "demo", env={"PATH": str(desk.here)})
    assert (ended.code, ended.err) == (
        2,
        "farm: demo was not made: git is not installed; install it (on Debian and Ubuntu: apt-get install git)\n",
    )
    assert not (desk.here / "demo").exists()


def test_proving_the_sandbox_leaves_no_folder_of_its_own(desk: Desk) -> None:
    root = desk.scratch / "root"
    root.mkdir(mode=0o755)
    assert desk.farm("doctor", env={"FARM_WORK_ROOT": str(root)}).code == 0
    assert names(root) == {"bin", "etc"}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
