"""Places that can't be written, pipes that nobody reads: one line, and never the code of a verdict."""

import shlex
import subprocess
from pathlib import Path

from tests.builders.farm_command import FARM, Desk

QUICKSTART = Path(__file__).parents[2] / "ops/examples/quickstart/sweep.yaml"


def test_a_log_folder_that_cannot_be_made_is_told_before_a_sweep_is_opened(desk: Desk) -> None:
    (desk.here / ".farm").write_text("not a folder")
    store = desk.here / "store"
    ended = desk.farm("run", QUICKSTART, "--store", store)
    assert (ended.code, len(ended.error_lines)) == (2, 1), ended
    assert ".farm" in ended.err
    assert not list(store.glob("sweeps/*"))


def test_a_folder_that_cannot_be_made_is_told(desk: Desk) -> None:
    ended = desk.farm("init", "/proc/nowhere")
    assert (ended.code, len(ended.error_lines)) == (2, 1), ended
    assert "/proc/nowhere" in ended.err


def test_a_store_url_with_a_nul_is_told(desk: Desk) -> None:
    ended = desk.farm("status", "--store", "file:///%00x")
    assert (ended.code, len(ended.error_lines)) == (2, 1), ended


def test_output_that_nobody_reads_is_no_verdict(desk: Desk) -> None:
    command = f"{shlex.quote(str(FARM))} plan {shlex.quote(str(QUICKSTART))} --json; echo $? >&2"
    ended = subprocess.run(
        ("sh", "-c", f"({command}) | true"), cwd=desk.here, env=desk.env({}), capture_output=True, text=True, check=True
    )
    assert ended.stderr.strip() in {"141", "0"}, ended.stderr


def test_a_plug_in_that_ends_the_program_is_no_closed_pipe(desk: Desk) -> None:
    (desk.here / "quitter.py").write_text("raise SystemExit(9)\n")
    folder = desk.here / "quitter-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: quitter\nVersion: 1\n")
    (folder / "entry_points.txt").write_text("[farm.stores]\nquit = quitter:open_store\n")
    ended = desk.farm("status", "--store", "quit://now", env={"PYTHONPATH": str(desk.here)})
    assert ended.code == 9, ended


def test_an_open_sweep_is_not_finalized_by_mistake_and_a_cancelled_one_says_so(desk: Desk) -> None:
    sweep = desk.farm("submit", QUICKSTART).out.strip()
    refused = desk.farm("finalize", sweep, "--json")
    assert (refused.code, '"open_cells": 18' in refused.out) == (6, True), refused
    assert desk.farm("finalize", sweep, "--unfinished").code == 5
    again = desk.farm("cancel", sweep)
    assert (again.code, len(again.error_lines)) == (2, 1), again
    assert "sealed" in again.err
