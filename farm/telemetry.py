"""Logs: structlog to stderr, one event a line, names as `noun.past_tense`, no free-text ids and no secrets."""

import logging
import sys

import structlog

from farm.redaction import Redactor


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
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
