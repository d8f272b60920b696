"""E, N and R: what is inherited, whom a guest can reach, and how much it can take."""

import ctypes
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import limits
from sandbox.spec import ExitKind
from sandbox.testing import LIMITS, Heard, script
from tests.builders.sandbox_rooms import bubblewrap, system_python


def test_e1_the_environment_is_the_allow_list(guest):
    assert guest["E1"] == ["HOME", "LANG", "PATH", "PWD", "TMPDIR", "USER"]


def test_e1_the_workers_key_is_in_no_environment(guest):
    assert guest["E1 secret"] is False


def test_e2_a_descriptor_that_the_worker_inherited_does_not_get_in(guest):
    assert guest["E2"] == [0, 1, 2]


def test_e2n_the_descriptor_was_readable(host):
    with open(host.leaked, closefd=False) as leaked:
        leaked.seek(0)
        assert leaked.read() == host.key


def test_e3_nothing_that_steers_a_loader_or_an_interpreter_gets_in(guest):
    assert guest["E3"] == []


def test_n1_nothing_answers_by_network(guest):
    refused = {"v4": "ECONNREFUSED", "v6": "ECONNREFUSED"}
    elsewhere = ("metadata", "192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1")
    assert guest["N1"] == {**refused, **dict.fromkeys(elsewhere, "ENETUNREACH")}
    assert guest["N1 interfaces"] == ["lo"]


def test_n1n_the_host_reaches_those_doors(host):
    for address in (("127.0.0.1", host.port), ("::1", host.port6)):
        socket.create_connection(address, timeout=3).close()


def test_n1n_the_guest_reaches_a_door_of_its_own(guest):
    assert guest["N1 own"] == "done"


def test_n2_the_hosts_abstract_sockets_are_out_of_reach(guest):
    assert guest["N2"] == "ECONNREFUSED"


def test_n2n_the_host_reaches_its_abstract_socket(host):
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect("\0" + host.abstract)


def test_n3_no_socket_of_a_daemon_is_there(guest):
    assert guest["N3"] == []


def test_n3_a_socket_of_the_hosts_is_not_there_by_its_path(guest):
    assert guest["N3 pathname"] == "ENOENT"


def test_n3n_the_host_reaches_that_socket(host):
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(host.pathname))


def test_n4_no_name_is_resolved_and_the_answer_comes_at_once(guest):
    assert guest["N4"] in {"-2", "-3"}
    assert guest["N4 datagram"] == "ENETUNREACH"
    assert guest["N4 seconds"] < 1


def test_n5_other_socket_families_do_not_exist(guest):
    assert set(guest["N5"].values()) == {"EAFNOSUPPORT"}


def test_n5n_the_allowed_families_do(guest):
    assert set(guest["N5n"].values()) == {"done"}


def test_n5n_without_the_filter_a_machine_socket_is_made_where_the_kernel_has_them(unfiltered):
    try:
        socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM).close()
    except OSError:
        pytest.skip("this kernel has no AF_VSOCK")
    assert unfiltered["N5"][str(int(socket.AF_VSOCK))] == "done"


def test_n6_shared_memory_is_its_own(guest):
    assert guest["N6"] == {"files": [], "shm": 1, "msg": 1, "sem": 1, "segment": "ENOENT"}


def test_n6n_the_host_sees_what_it_shares(host):
    assert host.shared_file.exists()
    assert ctypes.CDLL(None).shmget(host.shared, 0, 0) >= 0
    assert Path("/proc/sysvipc/shm").read_text().count("\n") > 1


def test_n7_a_tool_reaches_no_door_and_its_session_reaches_it_both_ways(tool):
    assert tool["agent"] == {"socket": "done", "port": "done", "room": True, "session": True}
    assert tool["child"] == {"socket": "ENOENT", "port": "ECONNREFUSED", "room": False, "session": False}


def test_n7n_a_tool_that_is_the_sessions_own_child_reaches_the_same(flat_tool):
    assert flat_tool["child"] == flat_tool["agent"] == {"socket": "done", "port": "done", "room": True, "session": True}


def test_k5_forks_end_at_the_limit(guest, host):
    assert guest["K5"] == f"EAGAIN after {host.processes - 1}"


def test_r1_memory_past_the_limit_is_not_given(guest):
    assert guest["R1"] != 0  # None where a control group holds it, which would end the whole guest: see below


@pytest.mark.skipif(os.geteuid() != 0 or limits.find().groups is None, reason="no control groups for this user")
def test_r1_a_guest_that_takes_more_memory_than_its_group_may_have_is_ended():
    hog = script("python3 -c 'x = bytearray(1 << 30)' || python3 -c 'x = bytearray(1 << 30)'; sleep 60")
    exit_ = bubblewrap().run(replace(hog, limits=replace(LIMITS, memory_bytes=256 << 20)), Heard(), lambda: False)
    assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "memory")
    assert exit_.wall_s < 30


@pytest.mark.skipif(os.geteuid() != 0 or limits.find().groups is None, reason="no control groups for this user")
def test_r8_files_without_end_in_a_place_that_is_in_memory_are_memory():
    flood = "import os, itertools\nfor n in itertools.count(): os.close(os.open(f'/tmp/{n}', os.O_CREAT))"
    spec = replace(script(""), argv=(system_python(), "-I", "-S", "-c", flood))
    exit_ = bubblewrap().run(replace(spec, limits=replace(LIMITS, memory_bytes=48 << 20)), Heard(), lambda: False)
    assert (exit_.kind, exit_.limit) == (ExitKind.LIMIT, "memory")


def test_r2_every_place_is_read_only_or_bounded(guest):
    full = {"/tmp": "ENOSPC", "/run": "ENOSPC", "/dev/shm": "ENOSPC"}  # noqa: S108 (the sandbox's own)
    assert guest["R2"] == {**full, "/": "EROFS", "/dev": "EROFS"}


def test_r3_a_sparse_file_is_bounded_too(guest):
    assert guest["R3"] == "EFBIG"


def test_r6_descriptors_are_bounded(guest):
    assert guest["R6"] == "EMFILE"


def test_r7_no_limit_can_be_raised(guest):
    assert set(guest["R7"]) == {"ValueError: not allowed to raise maximum limit"}


def test_r7_no_share_of_the_machine_can_be_raised(guest):
    assert guest["R7 share"] == {"nice": "EACCES", "fifo": "EPERM", "rr": "EPERM", "oom": "EACCES"}
    assert guest["R7n"] == "done"
