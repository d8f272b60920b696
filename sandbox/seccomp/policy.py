"""What a guest may not ask of the kernel.

Allowed by default: the namespaces and the empty capability sets already hold; the filter takes away the calls that
reach past them (other processes' memory, new namespaces, mounts, keys, io_uring, which makes sockets behind a
filter's back) and every socket family but four: AF_VSOCK, for one, ignores network namespaces and reaches a virtual
machine's hypervisor.
"""

import errno
import platform
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from sandbox.errors import SandboxUnavailableError
from sandbox.seccomp import bpf

_X32_BIT = 0x40000000
_TIOCSTI = 0x5412
_TIOCLINUX = 0x541C
_FAMILIES = (1, 2, 10, 16)
"""AF_UNIX, AF_INET, AF_INET6, AF_NETLINK."""
_NEW_NAMESPACES = 0x7E020000
"""CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET}; CLONE_NEWTIME has no meaning in clone()."""


class Architecture(StrEnum):
    """A machine that the filter is written for, as `uname -m` says it."""

    X86_64 = "x86_64"
    AARCH64 = "aarch64"


@dataclass(frozen=True, slots=True)
class _Calls:
    """One architecture's numbers."""

    audit: int
    denied: tuple[int, ...]
    clone: int
    ioctl: int
    socket: int
    socketpair: int
    has_x32: bool


# From 424 on, numbers are the same everywhere. clone3 hides its flags behind a pointer, so no filter can judge them:
# ENOSYS makes libraries fall back to clone. The new mount calls get ENOSYS for the same reason: callers fall back.
_ABSENT = (
    428,  # open_tree
    429,  # move_mount
    430,  # fsopen
    431,  # fsconfig
    432,  # fsmount
    433,  # fspick
    435,  # clone3
    442,  # mount_setattr
    457,  # statmount
    458,  # listmount
    467,  # open_tree_attr
)
_DENIED_EVERYWHERE = (
    425,  # io_uring_setup
    426,  # io_uring_enter
    427,  # io_uring_register
    438,  # pidfd_getfd
    443,  # quotactl_fd
)

_DENIED_X86_64 = (
    101,  # ptrace
    103,  # syslog
    134,  # uselib
    139,  # sysfs
    153,  # vhangup
    155,  # pivot_root
    156,  # _sysctl
    159,  # adjtimex
    161,  # chroot
    163,  # acct
    164,  # settimeofday
    165,  # mount
    166,  # umount2
    167,  # swapon
    168,  # swapoff
    169,  # reboot
    170,  # sethostname
    171,  # setdomainname
    172,  # iopl
    173,  # ioperm
    174,  # create_module
    175,  # init_module
    176,  # delete_module
    177,  # get_kernel_syms
    178,  # query_module
    179,  # quotactl
    180,  # nfsservctl
    212,  # lookup_dcookie
    227,  # clock_settime
    246,  # kexec_load
    248,  # add_key
    249,  # request_key
    250,  # keyctl
    272,  # unshare
    298,  # perf_event_open
    300,  # fanotify_init
    303,  # name_to_handle_at
    304,  # open_by_handle_at
    305,  # clock_adjtime
    308,  # setns
    310,  # process_vm_readv
    311,  # process_vm_writev
    312,  # kcmp
    313,  # finit_module
    320,  # kexec_file_load
    321,  # bpf
    323,  # userfaultfd
)
_DENIED_AARCH64 = (
    18,  # lookup_dcookie
    39,  # umount2
    40,  # mount
    41,  # pivot_root
    42,  # nfsservctl
    51,  # chroot
    58,  # vhangup
    60,  # quotactl
    89,  # acct
    97,  # unshare
    104,  # kexec_load
    105,  # init_module
    106,  # delete_module
    112,  # clock_settime
    116,  # syslog
    117,  # ptrace
    142,  # reboot
    161,  # sethostname
    162,  # setdomainname
    170,  # settimeofday
    171,  # adjtimex
    217,  # add_key
    218,  # request_key
    219,  # keyctl
    224,  # swapon
    225,  # swapoff
    241,  # perf_event_open
    262,  # fanotify_init
    264,  # name_to_handle_at
    265,  # open_by_handle_at
    266,  # clock_adjtime
    268,  # setns
    270,  # process_vm_readv
    271,  # process_vm_writev
    272,  # kcmp
    273,  # finit_module
    280,  # bpf
    282,  # userfaultfd
    294,  # kexec_file_load
)

_CALLS = {
    Architecture.X86_64: _Calls(
        audit=0xC000003E,
        denied=_DENIED_X86_64 + _DENIED_EVERYWHERE,
        clone=56,
        ioctl=16,
        socket=41,
        socketpair=53,
        has_x32=True,
    ),
    Architecture.AARCH64: _Calls(
        audit=0xC00000B7,
        denied=_DENIED_AARCH64 + _DENIED_EVERYWHERE,
        clone=220,
        ioctl=29,
        socket=198,
        socketpair=199,
        has_x32=False,
    ),
}


def architecture_of(machine: str) -> Architecture | None:
    """Tell which filter fits a machine name; None when there is none, and then nothing may run."""
    return Architecture(machine) if machine in tuple(Architecture) else None


def architecture_here() -> Architecture:
    """Give this machine's. Raises SandboxUnavailableError."""
    found = architecture_of(platform.machine())
    if found is None:
        raise SandboxUnavailableError(
            f"no system-call filter is written for {platform.machine()}; use x86_64 or aarch64"
        )
    return found


@cache
def program(architecture: Architecture) -> bytes:
    """Make the filter for `architecture`, in the form that `bwrap --seccomp` reads."""
    calls = _CALLS[architecture]
    refuse = bpf.give(bpf.errno_return(errno.EPERM))
    absent = bpf.give(bpf.errno_return(errno.ENOSYS))
    parts = [
        bpf.load(bpf.ARCHITECTURE_OFFSET),
        bpf.unless_equal(calls.audit, bpf.give(bpf.KILL_PROCESS)),
        bpf.load(bpf.NUMBER_OFFSET),
        bpf.when_at_least(_X32_BIT, absent) if calls.has_x32 else b"",
        *(bpf.when_equal(number, absent) for number in _ABSENT),
        *(bpf.when_equal(number, refuse) for number in calls.denied),
        bpf.when_equal(calls.clone, _clone(refuse)),
        bpf.when_equal(calls.ioctl, _ioctl(refuse)),
        bpf.when_equal(calls.socket, _socket()),
        bpf.when_equal(calls.socketpair, _socket()),
        bpf.give(bpf.ALLOW),
    ]
    return b"".join(parts)


def _clone(refuse: bytes) -> bytes:
    flags = bpf.load(bpf.argument_offset(0))
    return flags + bpf.when_any_bit(_NEW_NAMESPACES, refuse) + bpf.give(bpf.ALLOW)


def _ioctl(refuse: bytes) -> bytes:
    """Judge the low 32 bits only: the kernel does too, so high bits must not get past us."""
    request = bpf.load(bpf.argument_offset(1))
    injections = bpf.when_equal(_TIOCSTI, refuse) + bpf.when_equal(_TIOCLINUX, refuse)
    return request + injections + bpf.give(bpf.ALLOW)


def _socket() -> bytes:
    allow = bpf.give(bpf.ALLOW)
    families = b"".join(bpf.when_equal(family, allow) for family in _FAMILIES)
    return bpf.load(bpf.argument_offset(0)) + families + bpf.give(bpf.errno_return(errno.EAFNOSUPPORT))
