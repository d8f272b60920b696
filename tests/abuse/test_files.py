"""F and W: what of the host a guest can see, and what it can change."""

import os
import socket
from pathlib import Path

from tests.builders.sandbox_rooms import work_root

ROOT = [".init", "bin", "cell", "dev", "etc", "home", "lib", "proc", "run", "sbin", "tmp", "usr"]


def test_f1_the_hosts_password_files_are_not_there(guest):
    assert set(guest["F1"].values()) == {"ENOENT"}


def test_f2_the_hosts_folders_are_not_there(guest):
    assert guest["F2"] == []


def test_f3_secrets_are_not_there_whatever_their_mode(guest):
    assert set(guest["F3"].values()) == {"ENOENT"}
    assert len(guest["F3"]) == 2


def test_f3n_the_host_itself_sees_the_secrets(guest):
    assert all(Path(path).exists() for path in guest["F3"])


def test_f4_other_cells_and_homes_are_not_there(guest):
    assert guest["F4"] == []


def test_f5_proc_leads_to_no_other_root(guest):
    assert guest["F5"] == {"self": guest["F6 root"], "1": "EACCES"}


def test_f6_climbing_from_a_bind_ends_in_the_sandboxs_root(guest):
    assert all(seen == guest["F6 root"] for seen in guest["F6"].values())
    assert [name for name in guest["F6 root"] if not name.startswith(("lib3", "lib6", "libx"))] == ROOT


def test_f7_files_can_not_be_opened_by_number(guest):
    assert guest["F7"] == {"name_to": "EPERM", "open_by": "EPERM"}


def test_f7n_without_the_filter_the_call_reaches_the_kernel(unfiltered):
    assert unfiltered["F7"]["name_to"] == "EFAULT"


def test_f8_only_its_own_processes_are_seen(guest):
    assert guest["F8"] == [1, 2]


def test_f9_process_1_tells_nothing_of_the_host(guest):
    # Its words are the guest's own, so what the guest was told to look for is taken away first.
    words = guest["F9"]["cmdline"].split("\0")
    assert words[0] == "/.init"
    assert all(word.isdigit() for word in words[1:6])
    assert guest["F9"]["environ"] == "EACCES"


def test_f9_the_mounts_name_the_hosts_side_of_the_binds_and_of_two_folders_of_ours_alone(guest):
    named = sorted(Path(source).name.split("-")[0] for source, target in guest["F9 mounts"] if _is_ours(source))
    assert named == ["group", "hosts", "init", "nsswitch.conf", "out", "passwd"]


def _is_ours(source):
    return str(work_root().name) in source


def test_w1_nothing_of_the_system_can_be_opened_for_writing(guest):
    assert set(guest["W1"].values()) <= {"EROFS", "EACCES", "ENOENT"}


def test_w1n_its_own_folder_can(guest):
    assert guest["W1n"] == "done"


def test_w2_nothing_can_be_remounted(guest):
    assert guest["W2"] == {"/": "EPERM", "/usr": "EPERM"}


def test_w3_nothing_can_be_mounted_by_the_old_calls_or_the_new(guest):
    old = {"tmpfs": "EPERM", "bind": "EPERM", "umount": "EPERM", "pivot_root": "EPERM"}
    assert guest["W3"] == {**old, "fsopen": "ENOSYS", "open_tree": "ENOSYS", "mount_setattr": "ENOSYS"}


def test_w3n_without_the_filter_the_new_calls_are_there(unfiltered):
    assert unfiltered["W3"]["open_tree"] == "done"


def test_w4_the_root_can_not_be_changed(guest):
    assert guest["W4"] == "EPERM"


def test_w5_no_device_can_be_made(guest):
    assert set(guest["W5"]) == {"EPERM"}


def test_w5_only_harmless_devices_are_there(guest):
    harmless = {"core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout"}
    assert set(guest["W5 nodes"]) <= harmless | {"tty", "urandom", "zero"}


def test_a16_no_attribute_that_means_something_to_the_host_can_be_set(guest):
    assert guest["A16"] == {"trusted.overlay.opaque": "EPERM", "security.capability": "EPERM"}


def test_w6_a_system_file_can_not_be_linked_into_the_workspace(guest):
    assert set(guest["W6"].values()) == {"EXDEV"}
    assert guest["W6n"] == "done"


def test_w7_a_mount_point_can_not_be_moved(guest):
    assert set(guest["W7"].values()) <= {"EROFS", "EXDEV", "EBUSY"}
    assert guest["W7n"] == "done"


def test_the_hosts_name_is_not_changed_by_any_of_it(guest):
    assert guest["P11"]["sethostname"] == "EPERM"
    assert socket.gethostname() == os.uname().nodename
