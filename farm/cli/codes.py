"""Exit codes that are the command line's own; errors bring theirs, and verdicts theirs (`farm.finalizer.exit_code`)."""

OPEN = 6
"""The sweep stays open; `farm resume` goes on."""
BUG = 70
"""An exception that nobody foresaw: ops/adr/0012."""
INTERRUPTED = 130
PIPE_CLOSED = 141
"""Nobody reads our output any more."""
