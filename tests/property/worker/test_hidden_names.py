"""What is literal in a glob of hidden files stands in every path that the glob hides."""

from hypothesis import given
from hypothesis import strategies as st

from farm.model import matches_any
from worker.staging.builds import hidden_names

names = st.text("ab_.", min_size=1, max_size=6)
pieces = st.one_of(names, st.sampled_from(["*", "**", "?", "[ab]", "hid*", "*_den", "a?c"]))
globs = st.lists(pieces, min_size=1, max_size=4).map("/".join)
paths = st.lists(names, min_size=1, max_size=4).map("/".join)


@given(globs, paths, st.data())
def test_the_name_is_in_every_path_that_the_glob_matches(glob: str, path: str, data: st.DataObject) -> None:
    filled = "/".join(
        data.draw(paths) if part == "**" else part.replace("*", "ab").replace("?", "b") for part in glob.split("/")
    )
    for one in (path, filled.replace("[ab]", "a")):
        if matches_any(one, (glob,)):
            assert all(name in f"{one}/" for name in hidden_names((glob,)))
