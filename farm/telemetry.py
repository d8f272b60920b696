"""Logs: structlog to stderr, one event a line, names as `noun.past_tense`, no free-text ids and no secrets."""

import logging
import sys
from contextlib import suppress
from io import TextIOBase
from typing import TextIO, cast

import structlog
from typing_extensions import override

from farm.redaction import Redactor


class _Outlet(TextIOBase):
    """Standard error, as long as somebody reads it or it has room: a log that can't be written stops no work."""

    @override
    def write(self, text: str) -> int:
        with suppress(OSError):
            sys.stderr.write(text)
        return len(text)

    @override
    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()


def configure(*, json: bool, level: int = logging.INFO, redactor: Redactor | None = None) -> None:
    """Send logs to stderr, as JSON lines or for a person's eyes; called once, by a command line."""
    secrets = redactor or Redactor()
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
            lambda _logger, _method, line: secrets.text(str(line)),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(cast("TextIO", _Outlet())),
        cache_logger_on_first_use=True,
    )
