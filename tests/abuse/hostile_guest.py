# ruff: noqa: FURB122, PLC1802, PTH104, PTH108, PTH110, PTH123, PTH208, S108, T201, TID251 (raw calls are its trade)
"""A hostile guest: tries to get out and prints, per try, the errno or what it saw. Runs inside the sandbox.

It gets what it may look for as JSON in argv[1]. It stands alone: the host's Python runs it from stdin.
"""

import contextlib
import ctypes
import errno
import fcntl
import json
import mmap
import os
import platform
import pty
import resource
import signal
import socket
import sys
import termios
import time

FOR = json.loads(sys.argv[1])
LIBC = ctypes.CDLL(None, use_errno=True)
IS_X86 = platform.machine() == "x86_64"
LINKED = ("/usr/bin/env", "/etc/passwd", "/.init", "/proc/self/status", "/tmp/linked")
NEWUSER, NEWNS = 0x10000000, 0x00020000
SYS = (
    {"ptrace": 101, "clone": 56, "kexec": 246, "finit": 313, "bpf": 321, "perf": 298, "uffd": 323, "vmread": 310}
    | {"add_key": 248, "request_key": 249, "keyctl": 250, "name_to": 303, "open_by": 304, "pivot": 155, "swapon": 167}
    | {"settimeofday": 164, "adjtimex": 159, "clock_adjtime": 305, "reboot": 169}
    if IS_X86
    else {"ptrace": 117, "clone": 220, "kexec": 104, "finit": 273, "bpf": 280, "perf": 241, "uffd": 282, "vmread": 270}
    | {"add_key": 217, "request_key": 218, "keyctl": 219, "name_to": 264, "open_by": 265, "pivot": 41, "swapon": 224}
    | {"settimeofday": 170, "adjtimex": 171, "clock_adjtime": 266, "reboot": 142}
) | {"uring": 425, "open_tree": 428, "fsopen": 430, "pidfd_open": 434, "clone3": 435, "getfd": 438, "setattr": 442}


def name(number):
    return errno.errorcode.get(number, str(number))


def call(what, *args):
    number = what if isinstance(what, int) else SYS[what]
    words = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) for a in args]
    done = LIBC.syscall(ctypes.c_long(number), *words)
    return "done" if done >= 0 else name(ctypes.get_errno())


def libc(function, *args):
    return "done" if getattr(LIBC, function)(*args) == 0 else name(ctypes.get_errno())


def attempt(act):
    try:
        got = act()
    except OSError as error:
        return name(error.errno)
    except ValueError as error:
        return f"ValueError: {error}"
    return "done" if got is None or not isinstance(got, str) else got


def opens(path, flags=os.O_RDONLY):
    return attempt(lambda: os.close(os.open(path, flags)))


def in_child(act):
    """How a child ended that did `act`: its code, or its signal as a negative number."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def connects(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as door:
        door.settimeout(3)
        return attempt(lambda: door.connect(address))


def makes(family, kind=socket.SOCK_STREAM):
    return attempt(lambda: socket.socket(family, kind).close())


def legacy_call():
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")  # getpid by the 32-bit gate
    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def injects(request):
    """Push a byte into a terminal of our own, as a guest would into one that it was given."""
    ours, theirs = pty.openpty()

    def push():
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        LIBC.ioctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p)
        done = LIBC.ioctl(theirs, request, b"x")
        os._exit(0 if done == 0 else ctypes.get_errno())

    end = in_child(push)
    os.close(ours)
    os.close(theirs)
    return "done" if end == 0 else name(end)


def enters_namespace():
    fd = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        return libc("setns", fd, 0)
    finally:
        os.close(fd)


def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def writes_parent_memory():
    """Whether a child may open its parent's memory: the control for process 1, which it may not."""
    return in_child(lambda: os._exit(0 if opens(f"/proc/{os.getppid()}/mem", os.O_RDWR) == "done" else 1)) == 0


def stops_only_us():
    """Signal the group of a child of ours: nobody else is in it."""
    return in_child(lambda: (os.setsid(), os.kill(0, signal.SIGKILL)))


def descriptors():
    found = []
    for fd in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            os.fstat(int(fd))
            found.append(int(fd))
    return sorted(found)


def status():
    with open("/proc/self/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def processes():
    return sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit())


def words_of_environments():
    text = b""
    for pid in processes():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            text += file.read()
    return text.decode(errors="replace")


def forks(most):
    children = []
    try:
        while len(children) < most:
            child = os.fork()
            if child == 0:
                signal.pause()
            children.append(child)
    except OSError as error:
        return f"{name(error.errno)} after {len(children)}"
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return "done"


def fills(path, most):
    try:
        with open(path, "wb") as file:
            for _ in range(most >> 16):
                file.write(b"\0" * 65536)
    except OSError as error:
        return name(error.errno)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return "done"


def opens_too_many():
    held = []
    try:
        while True:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        return name(error.errno)
    finally:
        for fd in held:
            os.close(fd)


def rewrites(path, text):
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text)
    finally:
        os.close(fd)


def files():
    return {
        "F1": {path: opens(path) for path in ("/etc/shadow", "/etc/gshadow")},
        "F2": [p for p in ("/root", "/var", "/opt", "/srv", "/mnt", "/boot", "/sys", "/work") if os.path.exists(p)],
        "F3": {path: opens(path) for path in FOR["secrets"]},
        "F4": [path for path in FOR["others"] if os.path.exists(path)],
        "F5": {
            p: sorted(os.listdir(f"/proc/{p}/root")) if p == "self" else opens(f"/proc/{p}/root") for p in ("self", 1)
        },
        "F6": {
            p: sorted(os.listdir(p + "/../../../../../..")) for p in ("/cell/out", "/tmp", "/usr/lib", "/proc/self/cwd")
        },
        "F6 root": sorted(os.listdir("/")),
        "F7": {"name_to": call("name_to", -100, b"/usr", 0, 0, 0), "open_by": call("open_by", 3, 0, 0)},
        "F8": processes(),
        "F9": {"cmdline": open("/proc/1/cmdline").read(), "environ": opens("/proc/1/environ")},
        "F9 mounts": [line.split()[3:5] for line in open("/proc/self/mountinfo")],
    }


def writing():
    with open("/tmp/linked", "w"):
        pass
    places = ["/usr/x", "/etc/passwd", "/x", "/cell/x", "/dev/x", "/.init", "/proc/sys/kernel/hostname"]
    places += ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"]
    flag = {p: os.O_WRONLY | (0 if os.path.exists(p) else os.O_CREAT) for p in places}
    return {
        "W1": {path: opens(path, flag[path]) for path in places},
        "W1n": opens("/cell/out/control", os.O_WRONLY | os.O_CREAT),
        "W2": {p: libc("mount", b"none", p.encode(), None, 32, None) for p in ("/", "/usr")},
        "W3": {
            "tmpfs": libc("mount", b"none", b"/tmp", b"tmpfs", 0, None),
            "bind": libc("mount", b"/usr", b"/tmp", None, 4096, None),
            "umount": libc("umount2", b"/tmp", 2),
            "pivot_root": call("pivot", b"/tmp", b"/tmp"),
            "fsopen": call("fsopen", b"tmpfs", 0),
            "open_tree": call("open_tree", -100, b"/", 0),
            "mount_setattr": call("setattr", -100, b"/", 0, 0, 0),
        },
        "W4": attempt(lambda: os.chroot("/tmp")),
        "W5": [
            attempt(lambda kind=kind, place=place: os.mknod(f"{place}/node", kind | 0o600, os.makedev(1, 3)))
            for kind in (0o060000, 0o020000)
            for place in ("/tmp", "/cell/out")
        ],
        "W5 nodes": sorted(os.listdir("/dev")),
        "A16": {
            key: attempt(lambda key=key: os.setxattr("/cell/out/control", key, b"\1\0\0\2" + b"\1\0\0\0" * 4))
            for key in ("trusted.overlay.opaque", "security.capability")
        },
        "W6": {path: attempt(lambda path=path: os.link(path, "/cell/out/linked")) for path in LINKED},
        "W6n": attempt(lambda: os.link("/cell/out/control", "/cell/out/beside")),
        "W7": {p: attempt(lambda p=p: os.rename(p, f"{p}-away")) for p in ("/cell/out", "/home/agent", "/tmp", "/usr")},
        "W7n": attempt(lambda: os.rename("/cell/out/beside", "/cell/out/moved")),
    }


def powers():
    me = status()
    return {
        "P1": {
            "unshare": libc("unshare", NEWUSER),
            "clone": call("clone", NEWUSER | signal.SIGCHLD, 0, 0, 0, 0),
            "clone3": call("clone3", 0, 88),
        },
        "P3": enters_namespace(),
        "P4": {"caps": sorted({v for k, v in me.items() if k.startswith("Cap")}), "nnp": me["NoNewPrivs"]},
        "P4 seccomp": me["Seccomp"],
        "P5": {
            "setuid": attempt(lambda: os.setuid(0)),
            "setgroups": attempt(lambda: os.setgroups([0])),
            "setresuid": attempt(lambda: os.setresuid(0, 0, 0)),
            "may set groups": open("/proc/self/setgroups").read().strip(),
        },
        "P6": {
            "ptrace": call("ptrace", 16, 1, 0, 0),
            "read": call("vmread", 1, 0, 0, 0, 0, 0),
            "getfd": call("getfd", 3, 0, 0),
            "mem": opens("/proc/1/mem", os.O_RDWR),
        },
        "P6n": writes_parent_memory(),
        "P7": {
            "bpf": call("bpf", 0, 0, 0),
            "perf": call("perf", 0, 0, -1, -1, 0),
            "userfaultfd": call("uffd", 0),
            "io_uring": call("uring", 1, 0),
            "kexec": call("kexec", 0, 0, 0, 0),
            "finit_module": call("finit", 3, 0, 0),
        },
        "P8": {k: call(k, b"user", b"x", 0, 0, 0) for k in ("add_key", "request_key", "keyctl")},
    }


def host_powers():
    return {
        "P9": call(0x40000000 | 39) if IS_X86 else "ENOSYS",
        "P10": in_child(legacy_call) if IS_X86 else -signal.SIGSYS,
        "P11": {
            "clock_settime": attempt(lambda: time.clock_settime(time.CLOCK_REALTIME, 0)),
            "settimeofday": call("settimeofday", 0, 0),
            "adjtimex": call("adjtimex", 0),
            "clock_adjtime": call("clock_adjtime", 0, 0),
            "reboot": call("reboot", 0, 0, 0, 0),
            "sethostname": attempt(lambda: socket.sethostname("x")),
            "swapon": call("swapon", b"/tmp", 0),
        },
        "P12": {"TIOCSTI": injects(0x5412), "high bits": injects(0x1_0000_5412), "TIOCLINUX": injects(0x541C)},
        "P12 tty": opens("/dev/tty"),
    }


def killing():
    with contextlib.suppress(OSError):
        os.kill(1, signal.SIGSTOP)
        os.kill(1, signal.SIGKILL)
        os.kill(1, signal.SIGTERM)
    time.sleep(0.05)
    return {
        "K2": state(1),
        "K3": stops_only_us(),
        "K4": {
            "kill": attempt(lambda: os.kill(FOR["host_pid"], 0)),
            "environ": opens(f"/proc/{FOR['host_pid']}/environ"),
            "pidfd": call("pidfd_open", FOR["host_pid"], 0),
        },
    }


def environment():
    return {
        "E1": sorted(os.environ),
        "E1 secret": FOR["key"] in words_of_environments(),
        "E2": descriptors(),
        "E3": [k for k in os.environ if k.startswith(("LD_", "PYTHON", "NODE_", "BASH_ENV", "GIT_"))],
    }


def reaches_itself():
    """The control: a network call can succeed here."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        return connects(socket.AF_INET, door.getsockname())


def resolves():
    before = time.monotonic()
    found = attempt(lambda: str(socket.getaddrinfo("example.org", 80)))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        sent = attempt(lambda: asked.sendto(b"?", ("192.0.2.53", 53)) and None)
    return {"N4": found, "N4 datagram": sent, "N4 seconds": time.monotonic() - before}


def network():
    return {
        "N1": {
            "v4": connects(socket.AF_INET, ("127.0.0.1", FOR["port"])),
            "v6": connects(socket.AF_INET6, ("::1", FOR["port6"])),
            "metadata": connects(socket.AF_INET, ("169.254.169.254", 80)),
            **{place: connects(socket.AF_INET, (place, 80)) for place in ("192.0.2.1", "198.51.100.1", "203.0.113.1")},
            "2001:db8::1": connects(socket.AF_INET6, ("2001:db8::1", 80)),
        },
        "N1 own": reaches_itself(),
        "N1 interfaces": [interface for _, interface in socket.if_nameindex()],
        "N2": connects(socket.AF_UNIX, "\0" + FOR["abstract"]),
        "N3 pathname": connects(socket.AF_UNIX, FOR["pathname"]),
        "N3": [
            p for p in ("/run/docker.sock", "/var/run/docker.sock", "/run/dbus", "/run/containerd") if os.path.exists(p)
        ],
        **resolves(),
        "N5": {
            str(f): makes(f, k) for f, k in ((40, 1), (17, 3), (38, 5), (31, 3), (44, 3), (29, 3), (30, 1), (21, 5))
        },
        "N5n": {str(f): makes(f) for f in (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6)},
        "N6": {
            "files": os.listdir("/dev/shm"),
            **{kind: open(f"/proc/sysvipc/{kind}").read().count("\n") for kind in ("shm", "msg", "sem")},
            "segment": "done" if LIBC.shmget(FOR["shared"], 0, 0) >= 0 else name(ctypes.get_errno()),
        },
    }


def limits():
    raised = []
    for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
        hard = resource.getrlimit(which)[1]
        raised.append(attempt(lambda which=which, hard=hard: resource.setrlimit(which, (hard + 1, hard + 1))))
    return {
        "K5": forks(FOR["processes"] * 2),
        "R1": in_child(lambda: os._exit(0 if len(bytearray(FOR["memory"])) else 1)) if FOR["memory"] else None,
        "R2": {p: fills(f"{p}/fill", 200 << 20) for p in ("/tmp", "/run", "/dev/shm", "/", "/dev")},
        "R3": attempt(lambda: os.truncate(os.open("/cell/out/sparse", os.O_CREAT | os.O_RDWR), 1 << 40)),
        "R6": opens_too_many(),
        "R7": raised,
        "R7 share": {
            "nice": attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)),
            "fifo": attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
            "rr": attempt(lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))),
            "oom": attempt(lambda: rewrites("/proc/self/oom_score_adj", b"-500")),
        },
        "R7n": attempt(lambda: rewrites("/proc/self/oom_score_adj", b"500")),
    }


CHAPTERS = (files, writing, powers, host_powers, killing, environment, network, limits)

if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    print(json.dumps({row: end for chapter in CHAPTERS for row, end in chapter().items()}))
