"""What a setup may not leave."""

from hashlib import sha256

from farm.adapters.memory.store import MemoryBlobs
from farm.model import Build, Dependency, Digest, OracleSpec, Snapshot, Task
from worker.staging.setup import Guarded, guarded
from worker.trees.scan import Entry, EntryKind, Tree, changes_between


def a_tree(**files: str) -> Tree:
    digests = {path: sha256(text.encode()).hexdigest() for path, text in files.items()}
    return Tree({path: Entry(EntryKind.FILE, executable=False, size=1, content=digests[path]) for path in files})


def problem(guarded: Guarded, after: Tree) -> str | None:
    before = a_tree(skill="s", old="o", linked="l")
    return guarded.problem(after, changes_between(before, after))


def test_what_is_guarded_may_stand_but_not_change() -> None:
    guarded = Guarded(overlaid=frozenset({"skill"}), linked=frozenset({"linked"}))
    assert problem(guarded, a_tree(skill="s", linked="l", new="n")) is None
    assert "changed 'skill', which an arm's overlay brings" in str(problem(guarded, a_tree(skill="t", linked="l")))
    assert "changed 'linked', the link to a dependency" in str(problem(guarded, a_tree(skill="s")))


def test_what_is_hidden_may_not_come_back_by_name_or_by_content() -> None:
    guarded = Guarded(hidden=frozenset({sha256(b"answer").hexdigest()}), hidden_globs=("hid*",))
    assert problem(guarded, a_tree(new="n")) is None
    assert "'new', which is one of the oracle's hidden files" in str(problem(guarded, a_tree(new="answer")))
    assert "'hidden', which the task's repository hides" in str(problem(guarded, a_tree(hidden="x")))


def test_the_links_to_dependencies_and_to_what_was_built_are_guarded() -> None:
    digest = Digest("a" * 64)
    task = Task(
        id="fix",
        snapshot=Snapshot(commit="a" * 40, tree=digest, size_bytes=1),
        prompt=digest,
        dependencies=(Dependency(files=digest, target="node_modules"),),
        builds=(
            Build(name="lib", argv=("make",), output="dist"),
            Build(name="docs", argv=("make",), output="out", target="docs"),
        ),
        oracle=OracleSpec(kind="command"),
    )
    assert guarded(task, (), MemoryBlobs()).linked == {"node_modules", "dist", "docs"}
