"""Which mistakes in the gates and the statistics no test would find: one small change at a time, and the tests.

    python ops/bench/mutants.py [farm/gates/paired farm/stats/holm.py …] [--sample 100] [--seed 0] [--workers 2]

Every number, comparison, `and`, `or`, `not`, plus and minus, `min` and `max` of farm/gates and farm/stats (or of what
is named) is changed, alone, in memory: no file is touched. A change that the module's tests let pass is a survivor: it
is printed, with its place. A change that makes the tests hang is found out by a limit of time.
"""

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import io
import itertools
import multiprocessing
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
WHERE = ("farm/gates", "farm/stats")
_LIMIT_S = 180
_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_REVERSED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
}
_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: of the module's `place`-th node in `ast.walk`'s order, in its `way`-th way."""

    path: str
    place: int
    way: int
    line: int
    told: str


def ways(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that may stand in this one's place."""
    match node:
        case ast.Compare(ops=ops):
            for (place, op), table in itertools.product(enumerate(ops), (_COMPARED, _REVERSED)):
                if type(op) in table:
                    changed = copy.deepcopy(node)
                    changed.ops[place] = table[type(op)]()
                    yield changed
        case ast.BoolOp(op=op):
            yield ast.BoolOp(op=ast.Or() if isinstance(op, ast.And) else ast.And(), values=copy.deepcopy(node.values))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield copy.deepcopy(operand)
        case ast.BinOp(op=op) if type(op) in _COMPUTED and not _is_text(node):
            yield ast.BinOp(left=copy.deepcopy(node.left), op=_COMPUTED[type(op)](), right=copy.deepcopy(node.right))
        case ast.Name(id=name) if name in _NAMES:
            yield ast.Name(id=_NAMES[name], ctx=node.ctx)
        case ast.Constant(value=bool() | int() | float() as value):
            yield ast.Constant(value=_other(value))


def _other(value: float) -> float:
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case _:
            return value * 1.01 if value else 0.01


def _is_text(node: ast.BinOp) -> bool:
    return any(isinstance(each, ast.JoinedStr | ast.Constant) and not _is_number(each) for each in ast.walk(node))


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def mutants(path: str) -> Iterator[Mutant]:
    """Yield every change of one file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    untouched = {id(inner) for node in ast.walk(tree) for left in _left_alone(node) for inner in ast.walk(left)}
    for place, node in enumerate(ast.walk(tree)):
        if id(node) in untouched:
            continue
        for way, changed in enumerate(ways(node)):
            told = f"{ast.unparse(node)}  ->  {ast.unparse(changed)}"
            yield Mutant(path, place, way, getattr(node, "lineno", 0), told)


def _left_alone(node: ast.AST) -> Sequence[ast.AST]:
    """Name what decides nothing: how values are told, and how classes are made."""
    match node:
        case ast.JoinedStr():
            return [node]
        case ast.ClassDef(decorator_list=decorators):
            return decorators
        case _:
            return []


def mutated(mutant: Mutant) -> ast.Module:
    """Make the changed module."""
    tree = ast.parse((ROOT / mutant.path).read_text("utf-8"))
    target = next(node for place, node in enumerate(ast.walk(tree)) if place == mutant.place)
    replacement = list(ways(target))[mutant.way]

    class Swap(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> ast.AST:
            return ast.copy_location(replacement, node) if node is target else self.generic_visit(node)

    return ast.fix_missing_locations(Swap().visit(tree))


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the changed module in the place of the one on the disk."""

    def __init__(self, mutant: Mutant) -> None:
        self.name = mutant.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.file = str(ROOT / mutant.path)
        self.code = compile(mutated(mutant), self.file, "exec")

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,  # noqa: ARG002 (the protocol's)
        target: object = None,  # noqa: ARG002 (as above)
    ) -> importlib.machinery.ModuleSpec | None:
        """Know one module."""
        if fullname != self.name:
            return None
        is_package = self.file.endswith("__init__.py")
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=self.file, is_package=is_package)
        if is_package:
            spec.submodule_search_locations = [str(Path(self.file).parent)]
        return spec

    def exec_module(self, module: object) -> None:
        """Run it."""
        exec(self.code, vars(module))  # noqa: S102 (our own code, changed)


def tests_of(path: str) -> list[str]:
    """Name the tests of a module, the nearest first: of its own name, then its folder's."""
    place = Path(path).relative_to("farm")
    near = sorted(
        str(found.relative_to(ROOT)) for found in (ROOT / "tests/unit" / place.parent).glob(f"*{place.stem}*")
    )
    folders = [*near, *(f"tests/{kind}/{place.parent}" for kind in ("unit", "property"))]
    if place.parent == Path("gates"):
        folders = [f"tests/unit/gates/test_{place.stem}.py", "tests/unit/gates", "tests/property/gates"]
    return [folder for folder in folders if (ROOT / folder).exists()]


def tried(mutant: Mutant) -> tuple[Mutant, bool]:
    """Say whether the module's tests pass with the change."""
    return mutant, passes(mutant.path, mutant)


def passes(path: str, mutant: Mutant | None = None) -> bool:
    """Say whether the module's tests pass, as it is or with a change; in a process of its own, as it stays loaded."""
    child = os.fork()
    if child == 0:
        signal.alarm(_LIMIT_S)
        os._exit(_tested(path, mutant))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def _tested(path: str, mutant: Mutant | None) -> int:
    import pytest  # noqa: PLC0415 (loaded once, before the first fork)

    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:xdist"]
    options += ["--assert=plain", "--hypothesis-seed=0", *tests_of(path)]
    try:
        if mutant is not None:
            sys.meta_path.insert(0, Changed(mutant))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return int(pytest.main(options))
    except BaseException:  # noqa: BLE001 (a change may raise anything anywhere: it was found)
        return 1


def _prepare() -> None:
    """Load what the tests need and the changes do not touch, so that each fork has it."""
    sys.path.insert(0, str(ROOT))
    for name in ("pytest", "hypothesis", "numpy", "scipy.stats", "scipy.optimize", "farm.model", "structlog"):
        __import__(name)


def files(named: Sequence[str]) -> list[str]:
    """List the modules below what is named."""
    places = [ROOT / name for name in named or WHERE]
    found = (sorted(place.rglob("*.py")) if place.is_dir() else [place] for place in places)
    return [str(path.relative_to(ROOT)) for each in found for path in each]


def main() -> int:
    """Change, test, and print who survived; the exit code says whether anybody did."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("named", nargs="*")
    options.add_argument("--sample", type=int, help="so many changes, drawn")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    chosen = options.parse_args()
    every = [mutant for path in files(chosen.named) for mutant in mutants(path)]
    if chosen.sample is not None:
        every = random.Random(chosen.seed).sample(every, min(chosen.sample, len(every)))  # noqa: S311 (a sample)
    began_s = time.monotonic()
    os.chdir(ROOT)
    left, done = list[Mutant](), Counter[str]()
    with multiprocessing.get_context("fork").Pool(chosen.workers, initializer=_prepare) as pool:
        paths = sorted({mutant.path for mutant in every})
        red = [path for path, is_green in zip(paths, pool.imap(passes, paths), strict=True) if not is_green]
        if red:
            sys.exit(f"the tests of {', '.join(red)} fail as the code is; nothing was changed")
        for mutant, is_alive in pool.imap_unordered(tried, every):
            done[mutant.path] += 1
            if is_alive:
                left.append(mutant)
                sys.stdout.write(f"{mutant.path}:{mutant.line}: {mutant.told}\n")
                sys.stdout.flush()
    print(f"{len(every)} changes in {len(done)} modules, {len(left)} survived; {time.monotonic() - began_s:.0f} s")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
