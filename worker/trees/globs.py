"""Globs over workspace paths, as pathlib's full match has them (which Python 3.11 lacks).

`*`, `?` and `[…]` stay within one name; `**` as a whole name stands for any number of names, none included, so that
`src/**` matches `src` and everything below it. Matching is of the whole path and minds case; a leading dot is no
exception.
"""

import functools
import re

_WILD = re.compile(r"\*|\?|\[!?\]?[^\]]*\]")


def matches_any(path: str, globs: tuple[str, ...]) -> bool:
    """Say whether one of `globs` matches the whole of `path`."""
    return any(_compiled(glob).fullmatch(f"{path}/") for glob in globs)


@functools.lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    # Every name carries its separator, so that `**` can stand for no name at all.
    names = (name for name in glob.split("/") if name not in {"", "."})
    return re.compile("".join("(?:[^/]+/)*" if name == "**" else f"{_name(name)}/" for name in names))


def _name(name: str) -> str:
    pattern, at = "", 0
    for wild in _WILD.finditer(name):
        pattern += re.escape(name[at : wild.start()]) + _wild(wild.group())
        at = wild.end()
    return pattern + re.escape(name[at:])


def _wild(token: str) -> str:
    match token:
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _:
            negated = token.startswith("[!")
            members = token[2 if negated else 1 : -1].replace("\\", r"\\").replace("[", r"\[")
            members = members.replace("]", r"\]").replace("^", r"\^")
            return f"(?!/)[{'^' if negated else ''}{members}]"
