"""The system-call filter of each architecture: its bytes, and what it decides."""

import errno
import hashlib

import pytest

from sandbox.seccomp import Architecture, architecture_of, program
from tests.builders.bpf_machine import decide

ALLOW, KILL = 0x7FFF0000, 0x80000000
AUDIT = {Architecture.X86_64: 0xC000003E, Architecture.AARCH64: 0xC00000B7}
NUMBERS = {
    Architecture.X86_64: {
        "read": 0,
        "openat": 257,
        "ptrace": 101,
        "mount": 165,
        "unshare": 272,
        "bpf": 321,
        "keyctl": 250,
    }
    | {"clone": 56, "ioctl": 16, "socket": 41, "socketpair": 53},
    Architecture.AARCH64: {
        "read": 63,
        "openat": 56,
        "ptrace": 117,
        "mount": 40,
        "unshare": 97,
        "bpf": 280,
        "keyctl": 219,
    }
    | {"clone": 220, "ioctl": 29, "socket": 198, "socketpair": 199},
}
EVERY = pytest.mark.parametrize("architecture", list(Architecture))


def refused(number):
    return 0x00050000 | number


def ask(architecture, call, *arguments):
    number = NUMBERS[architecture].get(call, call)
    return decide(program(architecture), AUDIT[architecture], number, *arguments)


@pytest.mark.parametrize(
    ("architecture", "digest"),
    [
        (Architecture.X86_64, "df1d7a17ecde841e19804c86c2393bf1938a5e70a21beba15a52bf69b0020ffc"),
        (Architecture.AARCH64, "0be8dca860fb6497db844f0eed39e0d6ea417a45c63c1eb4f991a24715d7f920"),
    ],
)
def test_the_bytes_are_those_that_were_reviewed(architecture, digest):
    assert hashlib.sha256(program(architecture)).hexdigest() == digest


@EVERY
def test_another_architectures_call_kills(architecture):
    (other,) = set(AUDIT.values()) - {AUDIT[architecture]}
    assert decide(program(architecture), other, 0) == KILL
    assert decide(program(architecture), 0x40000003, 20) == KILL


@EVERY
@pytest.mark.parametrize("call", ["read", "openat"])
def test_everyday_calls_are_allowed(architecture, call):
    assert ask(architecture, call) == ALLOW


@EVERY
@pytest.mark.parametrize("call", ["ptrace", "mount", "unshare", "bpf", "keyctl", 425, 426, 427, 438])
def test_dangerous_calls_are_refused(architecture, call):
    assert ask(architecture, call) == refused(errno.EPERM)


@EVERY
@pytest.mark.parametrize("call", [428, 429, 430, 431, 432, 433, 435, 442])
def test_new_calls_with_hidden_arguments_look_absent(architecture, call):
    assert ask(architecture, call) == refused(errno.ENOSYS)


def test_x32_numbers_look_absent():
    for number in (0x40000000, 0x40000000 | 101, 0xFFFFFFFF):
        assert ask(Architecture.X86_64, number) == refused(errno.ENOSYS)


@EVERY
@pytest.mark.parametrize("bit", [17, 25, 26, 27, 28, 29, 30])
def test_clone_with_any_new_namespace_is_refused(architecture, bit):
    assert ask(architecture, "clone", 1 << bit | 17) == refused(errno.EPERM)


@EVERY
def test_clone_for_processes_and_threads_is_allowed(architecture):
    for flags in (17, 0x003D0F00, 0x01200011, 0x4111):
        assert ask(architecture, "clone", flags) == ALLOW


@EVERY
@pytest.mark.parametrize("request_", [0x5412, 0x541C, 0x1_0000_5412, 0xFFFF_FFFF_0000_541C])
def test_pushing_into_a_terminal_is_refused_whatever_the_high_bits(architecture, request_):
    assert ask(architecture, "ioctl", 0, request_) == refused(errno.EPERM)


@EVERY
def test_other_terminal_requests_are_allowed(architecture):
    assert ask(architecture, "ioctl", 0, 0x5401) == ALLOW


@EVERY
@pytest.mark.parametrize("call", ["socket", "socketpair"])
def test_only_four_socket_families_exist(architecture, call):
    allowed = {family for family in range(64) if ask(architecture, call, family) == ALLOW}
    assert allowed == {1, 2, 10, 16}
    assert ask(architecture, call, 40) == refused(errno.EAFNOSUPPORT)


def test_a_machine_without_a_filter_is_told_apart():
    assert architecture_of("x86_64") is Architecture.X86_64
    assert architecture_of("riscv64") is None
