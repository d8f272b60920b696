"""What bubblewrap's own messages mean on hosts where it can't work, and what to do about each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """A known reason, recognised by bubblewrap's words."""

    words: str
    meaning: str
    fix: str


_APPARMOR = (
    "allow them for bubblewrap in an AppArmor profile, or set the sysctl kernel.apparmor_restrict_unprivileged_userns=0"
)

_CAUSES = (
    Cause("No permissions to create a new namespace", "user namespaces are switched off", _APPARMOR),
    Cause("No permissions to creating new namespace", "user namespaces are switched off", _APPARMOR),
    Cause(
        "Creating new namespace failed",
        "the kernel gave no new namespace",
        "raise user.max_user_namespaces (leaked namespaces count), and in a container allow unshare and clone",
    ),
    Cause("setting up uid map: Permission denied", "user namespaces are restricted", _APPARMOR),
    Cause("loopback: Failed RTM_NEWADDR", "new namespaces get no capabilities", _APPARMOR),
    Cause(
        "Failed to make / slave",
        "this container may not change mounts",
        "run the worker on the host, or give the container CAP_SYS_ADMIN and unconfined seccomp and AppArmor",
    ),
    Cause(
        "Unexpected capabilities but not setuid",
        "the worker has inherited or ambient capabilities",
        "start the worker without ambient capabilities",
    ),
    Cause("Can't find source path", "a folder on the way is closed to the sandbox's uid", "give it mode o+x (0711)"),
    Cause("Can't chdir to", "the working directory is not there inside", "name a folder that a bind makes visible"),
    Cause("Can't mount proc", "the container hides parts of /proc", "unmask /proc for the container (--security-opt)"),
    Cause(
        "launcher: cgroup",
        "its control group could not be entered",
        "leave the worker's cgroups to it alone; under systemd set Delegate=yes",
    ),
    Cause(
        "launcher: terminals",
        "it got no pseudo-terminals of its own",
        "mount devpts at /dev/pts, and in a container allow mount",
    ),
    Cause(
        "launcher:",
        "root could not be given up",
        "start the worker as root with CAP_SETUID and CAP_SETGID",
    ),
)


def explain(text: str) -> str:
    """Make one clear sentence of what bubblewrap wrote before it gave up."""
    said = " ".join(text.split())[-400:] or "nothing"
    for cause in _CAUSES:
        if cause.words in text:
            return f"the sandbox could not be set up: {cause.meaning}; {cause.fix} (bubblewrap said: {said!r})"
    return f"the sandbox could not be set up; bubblewrap said: {said!r}"
