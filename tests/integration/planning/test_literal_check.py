"""The hidden check of the literal family, run as the verifier runs it, with the machine's own node."""

import json
import os
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

FAMILY = Path(str(resources.files("farm"))) / "presets" / "overlay_v4" / "literal"
NONCE = "n0nce"
FILES = ("auth", "billing", "notifications")
RIGHT = {
    "auth": """\
import type { Stats } from "node:fs";
export interface Visitor<T = {}> {
  hasPass: boolean;
  isSuspended: boolean;
}
type Rule = (visitor: Visitor) => boolean;
const rule: Rule = ({ hasPass, isSuspended }: Visitor): boolean => hasPass && !isSuspended;
export function maySignIn(visitor: Visitor): boolean {
  return rule(visitor!) as boolean;
}
""",
    "billing": """\
export function totalPrice(prices: readonly number[]): number {
  let total: number = 0;
  for (const price of prices as number[]) total += price;
  return total;
}
""",
    "notifications": """\
export const recipients = (addresses: string[]): string[] => Array.from(new Set<string>(addresses));
""",
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    if shutil.which("node") is None:
        pytest.skip("node is not installed; ops/bootstrap.sh dev installs it")
    return Path(shutil.copytree(FAMILY / "repository", tmp_path / "ws"))


def solve(workspace: Path, **texts: str) -> None:
    for name, text in (RIGHT | texts).items():
        (workspace / "src" / f"{name}.ts").write_text(text)


def checked(workspace: Path, path: str | None = None) -> dict[str, Any]:
    done = subprocess.run(
        ["/bin/sh", str(FAMILY / "oracle" / "check.sh")],
        cwd=workspace,
        env={
            "PATH": path if path is not None else os.environ["PATH"],  # noqa: TID251 (where node is)
            "FARM_HIDDEN": str(FAMILY / "oracle"),
            "FARM_NONCE": NONCE,
            "TMPDIR": str(workspace.parent),
        },
        capture_output=True,
        timeout=60,
        check=True,
    )
    mark, nonce, finding = done.stdout.decode().splitlines()[-1].split(" ", 2)
    assert (mark, nonce) == ("FARM-FINDING", NONCE)
    found: dict[str, Any] = json.loads(finding)
    return found


def score(workspace: Path) -> object:
    return checked(workspace)["numbers"]["correct_target_behaviors"]


def test_the_workspace_as_given_has_no_right_behaviour(workspace: Path) -> None:
    found = checked(workspace)
    assert (found["correct"], found["numbers"]) == (False, {"correct_target_behaviors": 0})


def test_three_repairs_are_right(workspace: Path) -> None:
    solve(workspace)
    assert checked(workspace) == {"correct": True, "numbers": {"correct_target_behaviors": 3}}


@pytest.mark.parametrize("name", FILES)
def test_each_repair_counts_alone(workspace: Path, name: str) -> None:
    (workspace / "src" / f"{name}.ts").write_text(RIGHT[name])
    found = checked(workspace)
    assert (found["correct"], found["numbers"]) == (False, {"correct_target_behaviors": 1})


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("auth", "process.exit(0);"),
        ("auth", "throw new Error('no');"),
        ("auth", "export function maySignIn(v) { return v.hasPass; }"),
        ("auth", "export function maySignIn(v) { return v.hasPass && !v.isSuspended ? 1 : 0; }"),
        ("auth", "console.log('n0nce {}'); export const maySignIn = 1;"),
        ("auth", RIGHT["auth"] + "process.on('exit', () => { process.exitCode = 3; });"),
        ("billing", "export function totalPrice(p: number[]): number { return p.reduce((a, b) => a + b); }"),
        ("notifications", "export const recipients = (a: string[]) => [...new Set(a)].sort();"),
        ("notifications", "export const recipients = (a: string[]) => { a.splice(0, 9, ...new Set(a)); return a; }"),
    ],
)
def test_a_wrong_implementation_just_does_not_count(workspace: Path, name: str, text: str) -> None:
    solve(workspace, **{name: text})
    found = checked(workspace)
    assert (found["correct"], found["numbers"]) == (False, {"correct_target_behaviors": 2})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 99);", "killed by SIGTERM"),
        ("process.stdout.write('x'.repeat(70000));", "ENOBUFS"),
    ],
)
def test_a_fault_of_the_checks_own_process_leaves_it_incomplete(workspace: Path, text: str, problem: str) -> None:
    solve(workspace, auth=text)
    found = checked(workspace)
    assert found["correct"] is None
    assert problem in found["problem"]


def test_a_check_that_hangs_is_ended_after_five_seconds_and_is_incomplete(workspace: Path) -> None:
    solve(workspace, auth="while (true) {}")
    assert checked(workspace) == {"correct": None, "problem": "the check of src/auth.ts: ETIMEDOUT"}


def test_a_linked_implementation_leaves_the_check_incomplete(workspace: Path) -> None:
    solve(workspace)
    (workspace / "src" / "auth.ts").rename(workspace.parent / "auth.ts")
    (workspace / "src" / "auth.ts").symlink_to(workspace.parent / "auth.ts")
    assert checked(workspace) == {"correct": None, "problem": "src/auth.ts is not a regular file"}


@pytest.mark.parametrize("change", ["empty", "remove", "link"])
def test_a_public_test_that_is_not_as_given_leaves_the_check_incomplete(workspace: Path, change: str) -> None:
    solve(workspace)
    public = workspace / "tests" / "billing.test.ts"
    match change:
        case "empty":
            public.write_text("")
        case "remove":
            public.unlink()
        case _:
            public.rename(workspace.parent / "same")
            public.symlink_to(workspace.parent / "same")
    found = checked(workspace)
    assert found["correct"] is None
    assert "tests/billing.test.ts" in found["problem"]


def test_a_file_that_does_not_belong_makes_the_score_zero(workspace: Path) -> None:
    solve(workspace)
    (workspace / "notes.txt").write_text("mine")
    assert score(workspace) == 0


def test_the_farms_own_git_folder_belongs(workspace: Path) -> None:
    solve(workspace)
    (workspace / ".git").mkdir()
    (workspace / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert score(workspace) == 3


def test_a_machine_without_node_says_that_the_check_could_not_run(workspace: Path, tmp_path: Path) -> None:
    found = checked(workspace, path=str(tmp_path))
    assert found["correct"] is None
    assert "node is not installed" in found["problem"]


ERASED = """\
import { type B, readFileSync } from "node:fs";
export interface Visitor<T extends object = {}> { hasPass: boolean }
type Pair = [string, number] | { a: string };
export type Fn = (a: number, b?: string) => void
export function f<T extends string>(x: T, y?: number, { a }: { a: number } = { a: 1 }, ...rest: string[]):
{ ok: string } {
  const seen: Set<string> = new Set<string>();
  const table = new Map<string, number[]>();
  let total: number = 0;
  for (const r of rest as readonly string[]) { total += r.length; if (total < 3 && total > (1)) { total = total!; } }
  const g = (p: number, q: string = "a:b"): number => p + q.length;
  const t = total > 1 ? (y ?? 2) : [1].map((v): number => v * 2)[0];
  const re = /[/:]a"/g.test("x");
  const isText = (v: unknown): v is string => typeof v === "string";
  const o = { m(z: number): string { return `${z < 2 ? `a:${z}` : "b"}`; }, k: g(1, "b") as number };
  return { ok: [seen.size, table.size, total, t, re, isText(x), o.m(1), o.k, a].join() } satisfies { ok: string };
}
console.log(f("x", 3, undefined, "ab", "c").ok);
"""


def test_our_eraser_turns_the_usual_types_into_javascript(workspace: Path) -> None:
    eraser = FAMILY / "oracle" / "erase.mjs"
    code = f"import {{ erase }} from {json.dumps(str(eraser))}; process.stdout.write(erase({json.dumps(ERASED)}));"
    script = workspace.parent / "erased.mjs"
    node = shutil.which("node") or ""
    erased = subprocess.run(
        [node, "--input-type=module", "-e", code], capture_output=True, check=True, timeout=30
    ).stdout
    script.write_bytes(erased)
    done = subprocess.run([node, str(script)], capture_output=True, check=True, timeout=30)
    assert done.stdout == b"0,0,3,3,false,true,a:1,2,1\n"
    assert [len(line) for line in erased.decode().splitlines()] == [len(line) for line in ERASED.splitlines()]
