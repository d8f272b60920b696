"""Whether the slots' uids and gids are for guests alone: nobody's account, group or range of containers."""

import grp
import pwd
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from sandbox.backends.slots import IDS
from sandbox.spec import Probe

_NO_SHELLS = ("nologin", "false", "sync")
_RANGE_WORDS = 3


def probes(etc: Path = Path("/etc"), accounts: Iterable[pwd.struct_passwd] | None = None) -> Iterator[Probe]:
    """Judge the ids of all slots; `accounts` are the machine's unless named."""
    found = pwd.getpwall() if accounts is None else accounts
    taken = [f"account {one.pw_name} (uid {one.pw_uid}, gid {one.pw_gid})" for one in found if _is_somebody(one)]
    yield _judged("slots' users", taken, "remove the account, or give it another uid and gid")
    groups = [f"group {one.gr_name} (gid {one.gr_gid})" for one in grp.getgrall() if one.gr_gid in IDS and one.gr_mem]
    yield _judged("slots' groups", groups, "take its members out, or give it another gid")
    fix = "give that line a range that leaves these ids out, and chown what containers made with them"
    yield _judged("slots' ranges", [*_ranges(etc / "subuid"), *_ranges(etc / "subgid")], fix)


def _is_somebody(one: pwd.struct_passwd) -> bool:
    has_no_shell = one.pw_shell.rpartition("/")[2] in _NO_SHELLS
    return (one.pw_uid in IDS and not has_no_shell) or (one.pw_gid in IDS and one.pw_uid not in IDS)


def _ranges(file: Path) -> Iterator[str]:
    """Give the lines that hand ids of ours to somebody's containers."""
    text = ""
    with suppress(FileNotFoundError):  # no subordinate ids here
        text = file.read_text()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#")[0].strip().split(":")
        if len(words) != _RANGE_WORDS or not (words[1].isdigit() and words[2].isdigit()):
            continue
        first, count = int(words[1]), int(words[2])
        if first < IDS.stop and first + count > IDS.start:
            yield f"{file} line {number}: {line}"


def _judged(name: str, taken: list[str], fix: str) -> Probe:
    ids = f"{IDS.start} to {IDS.stop - 1}"
    if not taken:
        return Probe(name, ok=True, detail=f"{ids} are for guests alone")
    return Probe(name, ok=False, detail=f"{ids} are not for guests alone: {'; '.join(taken)}", fix=fix)
