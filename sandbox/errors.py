"""Errors of the sandbox: only its own inability raises; whatever the guest does is data in `Exit`."""


class SandboxError(Exception):
    """The sandbox could not do its part; nothing was proven about the guest."""


class SandboxUnavailableError(SandboxError):
    """The machine can't sandbox: the message says what is missing and how to get it. There is no fallback."""


class SandboxRefusedError(SandboxError):
    """The spec asks for something that would not be safe: a symlink as source, a mount inside a writable bind."""


class SandboxCommandError(SandboxError):
    """The sandbox stood, but its command could not be executed: not found, not executable, arguments too long."""


class SandboxUnhealthyError(SandboxError):
    """Somebody in the sandbox can't be proven dead: take no more work on this host, and read nothing of the guest's."""
