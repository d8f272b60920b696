"""P: new namespaces, other processes' memory, the kernel's dangerous doors."""

import os
import platform
import signal
from pathlib import Path

import pytest


def test_p1_no_new_user_namespace(guest):
    assert guest["P1"] == {"unshare": "EPERM", "clone": "EPERM", "clone3": "ENOSYS"}


def test_p2_no_new_user_namespace_without_the_filter_either(unfiltered):
    assert unfiltered["P1"] == {"unshare": "ENOSPC", "clone": "ENOSPC", "clone3": "EFAULT"}


def test_p3_no_other_namespace_can_be_entered(guest):
    assert guest["P3"] == "EPERM"


def test_p4_no_capability_and_no_way_to_gain_one(guest):
    assert guest["P4"] == {"caps": ["0" * 16], "nnp": "1"}


def test_the_filter_is_on(guest):
    assert guest["P4 seccomp"] == "2"


def test_the_filter_is_off_in_the_controls(unfiltered):
    assert unfiltered["P4 seccomp"] == "0"


def test_p5_no_other_user(guest):
    ids = {"setuid": "EINVAL", "setresuid": "EINVAL", "setgroups": "EPERM"}
    assert guest["P5"] == {**ids, "may set groups": "deny"}


def test_p6_process_1_can_not_be_read_traced_or_written(guest):
    assert guest["P6"] == {"ptrace": "EPERM", "read": "EPERM", "getfd": "EPERM", "mem": "EACCES"}


def test_p6n_an_ordinary_parents_memory_can_be_opened(guest):
    assert guest["P6n"] is True


def test_p7_no_dangerous_kernel_door(guest):
    assert set(guest["P7"].values()) == {"EPERM"}


def test_p7n_without_the_filter_io_uring_answers(unfiltered):
    if Path("/proc/sys/kernel/io_uring_disabled").read_text().strip() != "0":
        pytest.skip("io_uring is switched off on this host")
    assert unfiltered["P7"]["io_uring"] == "EFAULT"


def test_p8_no_keyring(guest):
    assert set(guest["P8"].values()) == {"EPERM"}


def test_p9_no_x32_numbers(guest):
    assert guest["P9"] == "ENOSYS"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86_64 has a 32-bit gate of this kind")
def test_p10_the_32_bit_gate_kills(guest):
    assert guest["P10"] == -signal.SIGSYS


def test_p11_no_clock_name_swap_or_reboot(guest):
    assert set(guest["P11"].values()) == {"EPERM"}


def test_p12_no_byte_can_be_pushed_into_a_terminal(guest):
    assert set(guest["P12"].values()) == {"EPERM"}
    assert guest["P12 tty"] == "ENXIO"


def test_p12n_without_the_filter_the_byte_is_pushed(unfiltered):
    switch = Path("/proc/sys/dev/tty/legacy_tiocsti")
    if switch.exists() and switch.read_text().strip() == "0":
        assert unfiltered["P12"]["TIOCSTI"] == "EIO"
    else:
        assert (unfiltered["P12"]["TIOCSTI"], unfiltered["P12"]["high bits"]) == ("done", "done")


def test_k2_process_1_can_not_be_stopped_or_killed_from_inside(guest):
    assert guest["K2"] in {"S", "R"}


def test_k3_signals_to_its_own_group_stay_there(guest):
    assert guest["K3"] == -signal.SIGKILL


def test_k4_the_hosts_processes_can_not_be_named(guest):
    assert guest["K4"] == {"kill": "ESRCH", "environ": "ENOENT", "pidfd": "ESRCH"}
    assert Path(f"/proc/{os.getpid()}/environ").exists()
