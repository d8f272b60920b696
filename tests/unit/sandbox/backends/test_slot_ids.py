"""The slots' ids belong to guests alone."""

import pwd

import pytest

from sandbox.backends import slots
from sandbox.backends.slot_ids import probes
from sandbox.errors import SandboxError

FIRST, LAST = slots.IDS[0], slots.IDS[-1]


def account(uid, gid, shell="/bin/sh"):
    return pwd.struct_passwd(("ann", "x", uid, gid, "", "/home/ann", shell))


def failed(etc, *accounts):
    return [(probe.name, probe.detail.partition(": ")[2]) for probe in probes(etc, accounts) if not probe.ok]


def test_every_slot_has_an_id_of_its_own_and_there_is_an_end_to_them():
    assert slots.owner(0, drops=True) == (FIRST, FIRST)
    assert slots.owner(len(slots.IDS) - 1, drops=True) == (LAST, LAST)
    for slot in (-1, len(slots.IDS)):
        with pytest.raises(SandboxError, match=f"slot {slot} is not one of"):
            slots.owner(slot, drops=True)


def test_ids_that_nobody_has_are_fit(tmp_path):
    (tmp_path / "subuid").write_text("ann:100000:65536\nbob:599900000:200000\n# none\nbroken:x:1\n")
    assert failed(tmp_path, account(1000, 1000), account(FIRST, FIRST, "/usr/sbin/nologin")) == []


@pytest.mark.parametrize("name", ["subuid", "subgid"])
@pytest.mark.parametrize("first", [FIRST - 65535, FIRST, LAST])
def test_a_range_of_containers_that_reaches_a_slots_id_is_named_with_its_line(tmp_path, name, first):
    (tmp_path / name).write_text(f"ann:100000:65536\nbob:{first}:65536\n")
    assert failed(tmp_path) == [("slots' ranges", f"{tmp_path / name} line 2: bob:{first}:65536")]


def test_a_range_that_ends_before_the_first_or_begins_after_the_last_is_fit(tmp_path):
    (tmp_path / "subuid").write_text(f"ann:{FIRST - 65536}:65536\nbob:{LAST + 1}:65536\n")
    assert failed(tmp_path) == []


@pytest.mark.parametrize(("uid", "gid"), [(FIRST, 100), (LAST, LAST), (1000, FIRST + 7)])
def test_no_slot_may_be_somebodys_account_or_an_accounts_group(tmp_path, uid, gid):
    assert failed(tmp_path, account(uid, gid)) == [("slots' users", f"account ann (uid {uid}, gid {gid})")]
