"""What a report says of its gates' own characteristics, beside the verdict: measured, or why not."""

from collections.abc import Iterator

from farm.gates.paired import PairedGate
from farm.gates.paired.operating import POWER, Operating, operating
from farm.gates.paired.playing import Chance
from farm.gates.paired.policy import PairedPolicy
from farm.gates.table import Table
from farm.model import Pin
from farm.reporting.text import value_text

COMPARE_NOTHING = frozenset({"completeness", "health", "spend"})
"""Gates that ask each arm or the sweep for something, and no arm to be better than another."""


def gate_operating(table: Table, pin: Pin) -> Operating:
    """Play the gate on sweeps like this one, where a play of it is honest."""
    if pin.name == PairedGate.name and pin.version == PairedGate.version:
        return operating(table, PairedPolicy.model_validate(pin.options))
    if pin.name in COMPARE_NOTHING:
        return Operating(note=f"Not played: {pin.name} compares no arms, so it promotes none by chance.")
    return Operating(
        note=f"Not played: {pin.name} decides by more than one number of a cell; this sweep is no model of the rest."
    )


def operating_words(found: Operating) -> Iterator[str]:
    """Say it in sentences, the false alarms first."""
    if found.alike is None:
        yield found.note
        return
    yield f"Of {found.alike.played} played sweeps whose arms are alike it passes {_share(found.alike)}."
    if found.at_bound is not None and found.at_bound.gain != found.alike.gain:
        bound = value_text(found.at_bound.gain)
        yield f"At a gain of {bound}, which is just not enough, it passes {_share(found.at_bound)}."
    if found.power:
        told = ", ".join(f"{_share(one)} at {value_text(one.gain)}" for one in found.power)
        yield f"By the gain in {found.metric} it passes {told}."
    if found.least_gain is None:
        yield f"It could have seen no gain that was tried in {POWER:.0%} of sweeps."
    else:
        least = value_text(found.least_gain)
        yield f"The least gain that it could have seen in {POWER:.0%} of sweeps is about {least}."
    yield found.note


def _share(found: Chance) -> str:
    return f"{found.passes:.1%} (± {found.standard_error:.1%})"
