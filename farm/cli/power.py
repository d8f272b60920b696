"""farm power."""

from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import JsonValue

from farm import drafting
from farm.cli.common import answer, expensive_option, json_option
from farm.cli.finishing import load_gate
from farm.errors import SpecError
from farm.model import Decision, Plan
from farm.planning.operating import Chances, Play, characteristics
from farm.stats.power import Difficulty

_EFFECTS = (0.0, 0.05, 0.1, 0.2, 0.3)
_MOST_PLAYED = 100_000


@click.command(name="power", epilog="Example:  farm power sweep.yaml --solves 0.4 --effect 0 --effect 0.15")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option("--solves", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.5, show_default=True)
@click.option(
    "--alike",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="How much a task's trials are alike: their correlation. Near 1 tasks are solved always or never.",
)
@click.option("--effect", "effects", type=float, multiple=True, help="Gain of the candidates; may be said again.")
@click.option("--plays", type=click.IntRange(1, _MOST_PLAYED), default=500, show_default=True, help="Sweeps for each.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@expensive_option
@json_option
def command(  # noqa: PLR0913 (a verb's options)
    sweep_file: Path,
    *,
    solves: float,
    alike: float,
    effects: tuple[float, ...],
    plays: int,
    seed: int,
    expensive: bool,
    as_json: bool,
) -> None:
    """Play a sweep's own gates before it is paid for: how often they pass, fail or decide nothing, by effect.

    The share that --solves says is the incumbents' mean over tasks. An effect of 0 shows the false alarms. Every
    planned cell is taken as measured; nothing is stored.
    """
    plan = drafting.draft_plan(sweep_file, expensive=expensive).plan
    if not plan.gates:
        raise SpecError(f"{sweep_file} names no gate; there is nothing to play")
    weight = (1 - alike) / alike
    truth = Difficulty(solves * weight, (1 - solves) * weight)
    found = {
        pin.name: [
            characteristics(plan, pin, load_gate(pin.name), Play(truth, effect, plays, seed))
            for effect in effects or _EFFECTS
        ]
        for pin in plan.gates
        if pin.name != "health"  # it says nothing of answers
    }
    answer(_document(plan, found), _lines(plan, found), as_json=as_json)


def _document(plan: Plan, found: dict[str, list[Chances]]) -> dict[str, JsonValue]:
    gates: dict[str, JsonValue] = {name: [_record(one) for one in chances] for name, chances in found.items()}
    return {"sweep": plan.name, "plan": str(plan.digest), "cells": len(plan.cells), "gates": gates}


def _record(chances: Chances) -> JsonValue:
    return {
        "effect": chances.effect,
        "played": chances.played,
        **{decision.value: chances.shares[decision] for decision in Decision},
        "standard_error": {decision.value: chances.standard_errors[decision] for decision in Decision},
    }


def _lines(plan: Plan, found: dict[str, list[Chances]]) -> Iterator[str]:
    yield f"{plan.name}: {len(plan.tasks)} tasks, {plan.trials} trials of each, {len(plan.cells)} cells"
    for name, chances in found.items():
        yield f"gate {name}: of {chances[0].played} played sweeps"
        yield f"  {'effect':>7}  {'pass':>15}  {'fail':>15}  {'inconclusive':>15}"
        for one in chances:
            told = (f"{one.shares[each]:7.1%} ± {one.standard_errors[each]:4.1%}" for each in Decision)
            yield f"  {one.effect:>+7.2f}  " + "  ".join(f"{text:>15}" for text in told)
