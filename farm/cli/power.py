"""farm power."""

from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import JsonValue

from farm import drafting
from farm.cli.common import answer, expensive_option, json_option, store_option
from farm.cli.finishing import load_gate
from farm.cli.registering import cost_document, cost_lines
from farm.errors import SpecError
from farm.model import Decision, Plan
from farm.planning.earlier import Earlier, default_effects
from farm.planning.operating import Chances, Play, characteristics, read_by
from farm.reporting.operating import COMPARE_NOTHING
from farm.reporting.plots import PowerPoint, power_plot
from farm.stats.power import Difficulty

_SOLVES = 0.5
_MOST_PLAYED = 100_000


@click.command(name="power", epilog="Example:  farm power sweep.yaml --prior pilot-3f9a1c2b4d5e.1 --plot power.svg")
@click.argument("sweep_file", type=click.Path(path_type=Path))
@click.option(
    "--solves",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Share of their cells that the incumbents solve. Default: 0.5, or what --prior says.",
)
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
@click.option(
    "--prior",
    "priors",
    multiple=True,
    metavar="SWEEP",
    help="A sealed sweep of the same tasks and arms to play and price by: its id, or the place of its folder.",
)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), help="Also draw it, as SVG, into this file.")
@expensive_option
@store_option
@json_option
def command(  # noqa: PLR0913 (a verb's options)
    sweep_file: Path,
    *,
    solves: float | None,
    alike: float,
    effects: tuple[float, ...],
    plays: int,
    seed: int,
    priors: tuple[str, ...],
    plot: Path | None,
    expensive: bool,
    store: str | None,
    as_json: bool,
) -> None:
    """Play a sweep's own gates before it is paid for: how often they pass, fail or decide nothing, by effect.

    The share that --solves says is the incumbents' mean over tasks. An effect of 0 shows the false alarms. A gate that
    reads a metric is played with the noise of --prior's runs, its effects in the metric's unit. Every planned cell is
    taken as measured; nothing is stored.
    """
    asked = drafting.Registering(priors=priors)
    draft = drafting.draft_plan(sweep_file, expensive=expensive, store=store, registering=asked)
    gates = [(pin, load_gate(pin.name)) for pin in draft.plan.gates if pin.name not in COMPARE_NOTHING]
    if not gates:
        raise SpecError(f"{sweep_file} names no gate that compares arms; there is nothing to play")
    earlier = Earlier(draft.plan, drafting.prior_rows(draft.plan, priors, store))
    weight = (1 - alike) / alike
    said = Difficulty((solves or _SOLVES) * weight, (1 - (solves or _SOLVES)) * weight)
    truths = [earlier.numbers(*read_by(pin, gate)) or earlier.difficulty(solves, said) for pin, gate in gates]
    found = {
        pin.name: [
            characteristics(draft.plan, pin, gate, Play(truth, effect, plays, seed))
            for effect in effects or default_effects(truth)
        ]
        for (pin, gate), truth in zip(gates, truths, strict=True)
    }
    if plot is not None:
        plot.write_bytes(power_plot({name: [_point(one) for one in chances] for name, chances in found.items()}))
    document = {**_document(draft.plan, found), "cost": cost_document(draft.cost)}
    answer(document, [*_lines(draft.plan, found), *cost_lines(draft.cost)], as_json=as_json)


def _point(chances: Chances) -> PowerPoint:
    return PowerPoint(chances.effect, chances.shares[Decision.PASS], chances.standard_errors[Decision.PASS])


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
            yield f"  {one.effect:>+7.4g}  " + "  ".join(f"{text:>15}" for text in told)
