import io
import tarfile

from hypothesis import given
from hypothesis import strategies as st

from farm.planning.tar import Content, Entry, EntryKind, write

NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40).filter(
    lambda name: name not in {".", ".."}
)
FOLDER_NAMES = NAMES.map(lambda name: f"{name}.d")
PATHS = st.builds(lambda folders, name: "/".join([*folders, f"{name}.f"]), st.lists(FOLDER_NAMES, max_size=4), NAMES)
BODIES = st.tuples(st.binary(max_size=1200), st.booleans())
TREES = st.dictionaries(PATHS, BODIES, min_size=1, max_size=6)


def packed(tree: dict[str, tuple[bytes, bool]]) -> bytes:
    return b"".join(
        write(Content(Entry(path, EntryKind.FILE, len(body), run), body) for path, (body, run) in tree.items())
    )


@given(TREES)
def test_any_tar_reader_finds_exactly_what_was_packed(tree: dict[str, tuple[bytes, bool]]) -> None:
    with tarfile.open(fileobj=io.BytesIO(packed(tree)), mode="r:", encoding="utf-8") as tar:
        found = {}
        for one in tar:
            if one.isdir():
                assert any(path.startswith(f"{one.name}/") for path in tree)
                continue
            stream = tar.extractfile(one)
            assert stream is not None
            found[one.name] = (stream.read(), one.mode == 0o755)
    assert found == tree


@given(TREES, st.randoms())
def test_the_order_of_the_files_does_not_change_a_byte(tree: dict[str, tuple[bytes, bool]], chance: object) -> None:
    entries = list(tree.items())
    chance.shuffle(entries)  # type: ignore[attr-defined]  # (hypothesis gives a random.Random)
    assert packed(dict(entries)) == packed(tree)


@given(TREES)
def test_every_folder_stands_before_what_it_holds(tree: dict[str, tuple[bytes, bool]]) -> None:
    seen: set[str] = set()
    with tarfile.open(fileobj=io.BytesIO(packed(tree)), mode="r:", encoding="utf-8") as tar:
        for one in tar:
            assert "/" not in one.name or one.name.rpartition("/")[0] in seen
            seen.add(one.name)


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=300))
def test_a_links_target_survives_whatever_it_is_called(target: str) -> None:
    body = b"".join(write([Content(Entry("link", EntryKind.LINK, target=target))]))
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:", encoding="utf-8") as tar:
        assert [one.linkname for one in tar] == [target]
