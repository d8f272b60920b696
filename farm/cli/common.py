"""What several verbs share: options, and answers for people and for programs."""

import json
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import click
from pydantic import JsonValue
from typing_extensions import override

from farm.model import Shard
from farm.ports import Store

F = TypeVar("F", bound=Callable[..., Any])


def store_option(function: F) -> F:
    """Add --store."""
    return click.option(
        "--store",
        metavar="URL",
        help="file:///path, a plain path, or s3://bucket/prefix. Default: FARM_STORE, else .farm/store here.",
    )(function)


def reuse_option(function: F) -> F:
    """Add --reuse."""
    return click.option(
        "--reuse",
        multiple=True,
        metavar="SWEEP",
        help="A sealed sweep whose results are taken over where nothing of theirs has changed: its id, or the place of "
        "its folder in another store. May be repeated; adds to the file's `reuse:`.",
    )(function)


def edition_option(function: F) -> F:
    """Add --edition."""
    return click.option(
        "--edition",
        type=click.IntRange(min=1),
        help="Which run of this plan. Default: the next free one; of shards, which must agree on it, 1.",
    )(function)


class _ShardType(click.ParamType[Shard]):
    name = "N/OF"

    @override
    def convert(self, value: str | Shard, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        try:
            return value if isinstance(value, Shard) else Shard.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def expensive_option(function: F) -> F:
    """Add --expensive."""
    return click.option("--expensive", is_flag=True, help="Also run the tasks that the sweep file calls expensive.")(
        function
    )


def shard_option(function: F) -> F:
    """Add --shard."""
    return click.option(
        "--shard",
        type=_ShardType(),
        help="The part of the plan that is run from here, as 2/4; the other parts are run from other places.",
    )(function)


def budget_options(function: F) -> F:
    """Add --budget and --budget-tokens."""
    for option in (
        click.option("--budget", "cost_usd", type=_Usd(), help="US dollars, in the place of the plan's budget."),
        click.option("--budget-tokens", "tokens", type=click.IntRange(min=1), help="The same in tokens."),
    ):
        function = option(function)
    return function


class _Usd(click.ParamType[Decimal]):
    """An exact sum of dollars above nothing."""

    name = "usd"

    @override
    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        try:
            found = Decimal(str(value))
        except InvalidOperation:
            found = Decimal(0)
        if not found.is_finite() or found <= 0:
            self.fail(f"{value!r} is no sum of dollars above 0", param, ctx)
        return found


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


def place_of(store: Store, key: str) -> str:
    """Say where a record can be opened: a path, or an object's URL."""
    place = f"{store.url.rstrip('/')}/{key}"
    return unquote(urlsplit(place).path) if place.startswith("file:") else place
