"""What several verbs share: options, and answers for people and for programs."""

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from pydantic import JsonValue

F = TypeVar("F", bound=Callable[..., Any])


def store_option(function: F) -> F:
    """Add --store."""
    return click.option(
        "--store",
        metavar="URL",
        help="file:///path, a plain path, or s3://bucket/prefix. Default: FARM_STORE, else .farm/store here.",
    )(function)


def json_option(function: F) -> F:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Answer with one JSON document on stdout.")(function)


def answer(document: dict[str, JsonValue], lines: Iterable[str], *, as_json: bool) -> None:
    """Print the document for a program, or the lines for a person."""
    if as_json:
        click.echo(json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False))
    else:
        for line in lines:
            click.echo(line)
