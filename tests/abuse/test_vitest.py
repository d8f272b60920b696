"""G: what a candidate in TypeScript tries against its hidden tests, judged by the oracle `vitest`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from farm.adapters.memory import MemoryStore
from farm.model import Dependency, OracleFinding, OracleSpec
from farm.planning.capture import capture
from tests.builders.sandbox_rooms import bubblewrap, work_root
from tests.builders.worker.farm import Farm
from worker.tasks import carry

HIDDEN = {
    "tests/sums.test.ts": """
import { describe, expect, it } from 'vitest'
import { add } from '../src/sums'
import { two } from './own'
describe('add', () => {
  it('adds small ones', () => expect(add(1, 1)).toEqual(two))
  it.each([[1, 2], [3, 4]])('adds %i and %i', (a, b) => expect(add(a, b)).toEqual(a + b))
})
""",
    "tests/own.ts": "export const two: number = 2\n",
    "false.test.ts": """
import { expect, test } from 'vitest'
import { add } from './src/sums'
test('one and one is three', () => expect(add(1, 1)).toEqual(3))
""",
    "later.test.ts": "import { expect, test } from 'vitest'\ntest.skip('later', () => expect(1).toBe(1))\n",
}
TESTS = {"tests/sums.test.ts": ["add > adds small ones", "add > adds 1 and 2", "add > adds 3 and 4"]}
GOOD = "import { kept } from './kept'\nexport const add = (a: number, b: number): number => kept(a + b)\n"
KEPT = "export const kept = <T>(value: T): T => value\n"
BAD = "export const add = (a: number, b: number): any => a - b\n"
"""What every hijack is laid beside: it is wrong, so whoever calls it right was fooled."""

FOOLS: Mapping[str, Mapping[str, str]] = {
    "a runner's configuration and setup": {
        "src/sums.ts": BAD,
        "vitest.config.ts": "process.exit(0)\n",
        "vite.config.ts": "export default { test: { setupFiles: ['./setup.ts'], passWithNoTests: true } }\n",
        "setup.ts": "process.exit(0)\n",
        "package.json": '{"type": "module", "vitest": {"passWithNoTests": true}}',
        ".env": "NODE_OPTIONS=--require=/cell/ws/setup.ts\n",
        "postcss.config.js": "process.exit(0)\n",
    },
    "exit at import": {"src/sums.ts": BAD + "console.log('3 passed')\nprocess.exit(0)\n"},
    "matchers": {
        "src/sums.ts": BAD + "import { expect } from 'vitest'\nconst pass = () => ({ pass: true, message: () => '' })\n"
        "expect.extend({ toBe: pass, toEqual: pass })\n"
    },
    "equality": {"src/sums.ts": BAD + "Object.is = () => true\nArray.prototype.every = () => true\n"},
    "tests of its own by the hidden ones' names": {
        "src/sums.ts": BAD + "import { describe, it } from 'vitest'\n"
        "describe('add', () => {\n  it('adds small ones', () => {})\n  it('adds 1 and 2', () => {})\n"
        "  it('adds 3 and 4', () => {})\n})\n"
    },
    "every pipe": {
        "src/sums.ts": BAD + "import { fstatSync, writeSync } from 'node:fs'\nfor (let fd = 3; fd < 40; fd++) {\n"
        "  try { if (fstatSync(fd).isFIFO()) writeSync(fd, '{\"end\": 1}\\n') } catch {}\n}\n"
    },
}


@pytest.fixture(scope="module")
def vitest_tar(vitest_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    target = tmp_path_factory.mktemp("vitest") / "tar"
    capture(vitest_folder, target)
    return target.read_bytes()


@pytest.fixture
def judged(vitest_tar: bytes) -> Any:
    """Let a session write `files` and the oracle judge them."""

    def one(files: Mapping[str, str], **options: Any) -> OracleFinding:
        given = {"tests": TESTS, "must_fail": {"false.test.ts": ["one and one is three"]}, **options}
        store = MemoryStore()
        files_of_vitest = store.blobs.put(vitest_tar)
        farm = Farm(
            root=work_root() / "line",
            sandbox=bubblewrap(),
            script=[{"write": {"path": path, "text": text}} for path, text in files.items()],
            oracle=OracleSpec(kind="vitest", options=json.loads(json.dumps(given)), keep_output=True),
            hidden=HIDDEN,
            store=store,
            task={"dependencies": (Dependency(files=files_of_vitest, target="node_modules"),)},
        )
        line = farm.line()
        try:
            carry(line, farm.ticket)
        finally:
            line.close()
        evidence = farm.outcome().evidence
        assert evidence is not None, farm.outcome().fault
        assert farm.leftovers() == []
        return evidence.oracle

    return one


def test_a_right_answer_is_right(judged: Any) -> None:
    found = judged({"src/sums.ts": GOOD, "src/kept.ts": KEPT})
    assert (found.correct, found.answer_error, found.numbers["tests"]) == (True, None, 3)


def test_a_wrong_answer_is_wrong_by_the_names_of_its_tests(judged: Any) -> None:
    found = judged({"src/sums.ts": BAD})
    assert (found.correct, found.problem) == (False, None)
    assert found.answer_error.startswith("3 tests failed: tests/sums.test.ts::add > adds small ones, ")


@pytest.mark.parametrize("name", FOOLS)
def test_no_hijack_is_called_right(judged: Any, name: str) -> None:
    found = judged(FOOLS[name], must_fail={})
    assert (found.correct, found.problem) == (False, None), found


def test_only_a_test_that_must_fail_sees_an_answer_that_is_equal_to_all(judged: Any) -> None:
    equal = {"src/sums.ts": "export const add = (): any => ({ asymmetricMatch: () => true })\n"}
    assert judged(equal, must_fail={}).correct is True
    assert judged(equal).answer_error == (
        "false.test.ts::one and one is three did not fail, as it must: the candidate changes how tests are judged"
    )


def test_a_skipped_test_and_one_that_is_not_there_have_not_passed(judged: Any) -> None:
    skipped = {"tests": {"later.test.ts": ["later"]}, "must_fail": {}}
    assert judged({}, **skipped).answer_error == "1 test failed: later.test.ts::later"
    missing = {"tests": {"tests/sums.test.ts": ["add > multiplies"]}}
    found = judged({"src/sums.ts": GOOD, "src/kept.ts": KEPT}, **missing)
    assert found.answer_error == "these tests did not run: tests/sums.test.ts::add > multiplies"


def test_a_check_that_can_not_be_made_is_no_wrong_answer(judged: Any) -> None:
    found = judged({"src/sums.ts": GOOD}, tests={"none.test.ts": ["any"]})
    assert (found.correct, found.problem) == (None, "there is no hidden test file 'none.test.ts'")
