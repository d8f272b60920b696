import subprocess

from sandbox.backends.docker.owners import is_dead, this_process


def _with_pid(pid):
    boot, namespace, _, started = this_process().split(".")
    return f"{boot}.{namespace}.{pid}.{started}"


def test_this_process_lives():
    assert not is_dead(this_process())


def test_a_number_that_passed_to_another_process_is_dead():
    assert is_dead(_with_pid(1))


def test_a_process_that_is_gone_is_dead():
    with subprocess.Popen(["true"]) as gone:
        pass
    assert is_dead(_with_pid(gone.pid))


def test_whoever_lived_before_the_last_boot_is_dead():
    assert is_dead("another-boot.1.1.1")


def test_who_can_not_be_judged_from_here_is_left_alive():
    boot, _, pid, started = this_process().split(".")
    assert not is_dead(f"{boot}.1.{pid}.{started}0")
    assert not is_dead("")
    assert not is_dead("somebody")
