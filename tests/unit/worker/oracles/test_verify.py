"""Which tests a hidden file holds, by its source; and what the records of a run are worth."""

from pathlib import Path

import pytest

from worker.oracles.verifier.verify import BrokenCheckError, Expected, Run, Wanted, complaint, wanted_of

SOURCE = """
import unittest

def helper(): ...
def test_plain(): ...
async def test_later(): ...
class TestGroup:
    def test_in(self): ...
    def helper(self): ...
    class TestInner:
        def test_deep(self): ...
class Helper:
    def test_not_collected(self): ...
class Old(unittest.TestCase):
    def test_old(self): ...
"""
PASSED = {"setup": "passed", "call": "passed", "teardown": "passed"}
FAILED = {"setup": "passed", "call": "failed", "teardown": "passed"}
A, B, BAD = Wanted("t.py", "test_a"), Wanted("t.py", "test_b"), Wanted("t.py", "test_bad")
EXPECTED = Expected([A, B], [BAD])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test_it.py").write_text(SOURCE)
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("def")
    return tmp_path


def names(entry: str, folder: Path) -> list[str]:
    return [wanted.name for wanted in wanted_of(entry, folder)]


def test_a_file_stands_for_all_its_tests(folder: Path) -> None:
    found = ["test_plain", "test_later", "TestGroup::test_in", "TestGroup::TestInner::test_deep", "Old::test_old"]
    assert names("test_it.py", folder) == found


def test_a_name_stands_for_itself_a_class_for_what_it_holds(folder: Path) -> None:
    assert names("test_it.py::test_plain[1-x]", folder) == ["test_plain[1-x]"]
    assert names("test_it.py::TestGroup", folder) == ["TestGroup::test_in", "TestGroup::TestInner::test_deep"]


@pytest.mark.parametrize("entry", ["none.py", "empty.py", "broken.py", "test_it.py::test_none", "test_it.py::helper"])
def test_what_holds_no_test_is_a_broken_check(folder: Path, entry: str) -> None:
    with pytest.raises(BrokenCheckError, match=entry.partition("::")[0]):
        wanted_of(entry, folder)


def a_run(**changes: dict[str, str]) -> Run:
    phases = {A: PASSED, B: PASSED, BAD: FAILED}
    by_name = {test.name: test for test in phases}
    for name, said in changes.items():
        phases[by_name[name]] = said
    return Run({test: said for test, said in phases.items() if said}, is_ready=True, is_ended=True)


def test_a_phase_that_is_told_twice_was_not_told_by_the_runner_alone() -> None:
    found = a_run()
    found.note(BAD, "call", "failed")
    assert complaint(found, EXPECTED) == "the record of the test run was tampered with"


def test_all_that_must_and_nothing_else_is_right() -> None:
    assert complaint(a_run(), EXPECTED) is None


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (a_run(test_a=FAILED), "1 test failed: t.py::test_a"),
        (a_run(test_a=FAILED, test_b=FAILED), "2 tests failed"),
        (a_run(test_a={}), "did not run: t.py::test_a"),
        (a_run(test_bad={}), "did not run: t.py::test_bad"),
        (a_run(test_bad=PASSED), "t.py::test_bad did not fail"),
        (a_run(test_bad={**PASSED, "call": "skipped"}), "did not fail"),
        (a_run(test_bad={"setup": "failed"}), "did not run: t.py::test_bad"),
        (a_run(test_a={**PASSED, "call": "skipped"}), "1 test failed"),
        (a_run(test_a={**PASSED, "call": "xfail"}), "1 test failed"),
        (a_run(test_a={**PASSED, "teardown": "failed"}), "1 test failed"),
        (a_run(test_a={"setup": "failed", "teardown": "passed"}), "1 test failed"),
        (Run({A: PASSED, B: PASSED, BAD: FAILED}, is_ready=True), "ended before its end"),
        (Run({A: PASSED, B: PASSED, BAD: FAILED}, is_ready=True, is_ended=True, is_forged=True), "tampered"),
        (Run({}, broken=["t.py"], is_ready=True, is_ended=True), "could not be imported: t.py"),
    ],
)
def test_anything_else_is_wrong_and_says_why(found: Run, words: str) -> None:
    error = complaint(found, EXPECTED)
    assert error is not None
    assert words in error
