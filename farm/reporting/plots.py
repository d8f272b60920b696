"""Plots as inline SVG, the same bytes for the same report, in colours that the page chooses.

Matplotlib draws in placeholder colours that become CSS variables, so that one drawing serves light and dark.
"""

import io
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from farm.model import Number
from farm.reporting.report import ArmLine

DRAWN_BY = f"matplotlib {mpl.__version__}"
_INK, _FAINT = "#010203", "#040506"
_SERIES = ("#070801", "#070802", "#070803", "#070804")
_PLAIN = ("#222222", "#cccccc", "#1f6feb", "#bf5b04", "#2da44e", "#8250df")
"""The same where no page chooses colours."""
_VARIABLES = {
    _INK: "var(--ink)",
    _FAINT: "var(--rule)",
    **{colour: f"var(--series-{number})" for number, colour in enumerate(_SERIES, start=1)},
}
_WIDTH_IN = 4.4
_MOST_DRAWN = 10**15
"""Beyond it doubles lose integers; a guest's absurd number gets no drawing, the tables still show it."""
_ROW_IN = 0.4
_MARGIN_IN = 0.62
_STYLE: Mapping[str, str | float | bool] = {
    "svg.fonttype": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.edgecolor": _FAINT,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}


@dataclass(frozen=True, slots=True)
class Strip:
    """The values of one metric in one row of a plot."""

    label: str
    series: int
    """Which arm, from 0: its colour."""
    values: tuple[Number, ...]


def correct_plot(arms: Sequence[ArmLine]) -> str:
    """Draw each arm's share of right answers with its Wilson interval; "" when no cell was judged."""
    judged = [(place, arm) for place, arm in enumerate(arms) if arm.judged]

    def draw(axes: Axes) -> None:
        for row, (place, arm) in enumerate(judged):
            colour = _SERIES[place % len(_SERIES)]
            ends = [end for end in (arm.correct_low, arm.correct_high) if end is not None]
            axes.plot(ends, [row] * len(ends), color=colour, linewidth=2.5)
            axes.plot([arm.correct / arm.judged], [row], marker="o", markersize=7, color=colour, linestyle="none")
        axes.set_xlim(-0.02, 1.02)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], labels=["0 %", "25 %", "50 %", "75 %", "100 %"])

    return _plot("correct", [arm.name for _, arm in judged], draw)


def strip_plot(name: str, strips: Sequence[Strip]) -> str:
    """Draw every value of a metric as a point, one row for each task and arm, the median as a bar; "" for none."""
    filled = [strip for strip in strips if strip.values]

    if any(abs(value) > _MOST_DRAWN for strip in filled for value in strip.values):
        return ""

    def draw(axes: Axes) -> None:
        for row, strip in enumerate(filled):
            colour = _SERIES[strip.series % len(_SERIES)]
            values = [float(value) for value in strip.values]
            axes.plot(
                values, _spread(row, values), marker="o", markersize=4.5, color=colour, alpha=0.6, linestyle="none"
            )
            middle = statistics.median(values)
            axes.plot([middle, middle], [row - 0.4, row + 0.4], color=colour, linewidth=2)
        axes.xaxis.set_major_locator(MaxNLocator(nbins=5))
        axes.margins(x=0.06)

    return _plot(name, [strip.label for strip in filled], draw)


def _spread(row: int, values: Sequence[float]) -> list[float]:
    """Move equal values apart, in order and evenly, so that none hides another."""
    seen: dict[float, int] = {}
    places = []
    for value in values:
        count = seen[value] = seen.get(value, 0) + 1
        step = (count // 2) * (1 if count % 2 else -1)
        places.append(row + max(-0.36, min(0.36, 0.11 * step)))
    return places


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """How often a gate passes at one effect."""

    effect: float
    passes: float
    standard_error: float


def power_plot(lines: Mapping[str, Sequence[PowerPoint]]) -> bytes:
    """Draw how often each gate passes by the size of the effect, two standard errors about it: a file of its own."""

    def draw(axes: Axes) -> None:
        for place, (gate, points) in enumerate(lines.items()):
            ranked = sorted(points, key=lambda point: point.effect)
            shares, errors = [point.passes for point in ranked], [2 * point.standard_error for point in ranked]
            colour = _SERIES[place % len(_SERIES)]
            axes.errorbar(
                [point.effect for point in ranked],
                shares,
                yerr=errors,
                color=colour,
                marker="o",
                markersize=4,
                label=gate,
            )
        axes.set_ylim(-0.02, 1.02)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], labels=["0 %", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel("gain of the candidates")
        axes.set_ylabel("passes")
        axes.grid(axis="both")
        axes.legend(frameon=False)

    svg = _drawn("power", _WIDTH_IN * 0.62, draw, background="#ffffff")
    for colour, plain in zip((_INK, _FAINT, *_SERIES), _PLAIN, strict=True):
        svg = svg.replace(colour, plain)
    return svg.encode()


def _plot(name: str, labels: Sequence[str], draw: Callable[[Axes], None]) -> str:
    if not labels:
        return ""

    def rows(axes: Axes) -> None:
        draw(axes)
        axes.set_yticks(range(len(labels)), labels=list(labels))
        axes.set_ylim(len(labels) - 0.5, -0.5)
        axes.grid(axis="x")

    return _inline(_drawn(name, _MARGIN_IN + _ROW_IN * len(labels), rows))


def _drawn(name: str, height: float, draw: Callable[[Axes], None], background: str = "none") -> str:
    with mpl.rc_context():
        mpl.rcdefaults()  # a reader's own matplotlibrc must not change a sealed report's bytes
        for key, value in {**_STYLE, "svg.hashsalt": name}.items():
            mpl.rcParams[key] = value  # type: ignore[index]  # the stubs want literal keys
        figure = Figure(figsize=(_WIDTH_IN, height), layout="constrained", facecolor=background)
        FigureCanvasSVG(figure)
        draw(figure.add_subplot(facecolor=background))
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue().decode()


def _inline(svg: str) -> str:
    """Keep the drawing alone: no prologue, no metadata, no unused ids, the page's colours and fonts."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    used = set(re.findall(r"#([A-Za-z_][\w.-]*)", body))
    body = re.sub(r' id="([^"]*)"', lambda found: found[0] if found[1] in used else "", body)
    body = re.sub(r'<svg ([^>]*?)\s*height="[^"]*"', r"<svg \1", body, count=1)
    body = re.sub(r'(<svg [^>]*?)\s*width="[^"]*"', r"\1", body, count=1)
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, flags=re.DOTALL)  # it would style the whole page
    body = re.sub(r" font-family: [^;\"]*;", "", body)
    for colour, variable in _VARIABLES.items():
        body = body.replace(colour, variable)
    body = re.sub(r"\s*<g/>", "", body)
    return body.replace("<svg ", '<svg role="img" aria-hidden="true" ', 1).strip()
