"""How pictures look, and the statistics that they share. No pyplot, so no state and no display."""
import io
import math
from dataclasses import dataclass, field

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from PIL import Image

# Okabe and Ito's palette: distinguished by people who are colour-blind.
PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D31", "#7F7F7F"]
KNOWN = {"model-free": 0, "model-based": 1, "hybrid": 2, "random": 8,
         "resnet18": 0, "resnet50": 5, "inception_v3": 2, "squeezenet1_1": 1, "bert": 3}  # fmt: skip
STYLE = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.25, "axes.spines.top": False, "axes.spines.right": False,
         "axes.titlesize": 10, "svg.hashsalt": "rlgo", "svg.fonttype": "none"}  # fmt: skip
PERCENT = "change = (after - before) / before, in percent; negative is faster, so lower is better"


@dataclass
class Result:
    """What a command made: for people, as a table, as a picture."""

    title: str
    table: pd.DataFrame
    notes: list = field(default_factory=list)
    figure: Figure | None = None


def new_figure(rows=1, columns=1, width=7.0, height=4.0, **options):
    """(Figure, array of axes [rows, columns])."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **options)


def save(figure, path):
    """A picture file; PNG with 128 colours, a third of the size."""
    with matplotlib.rc_context(STYLE):
        if not str(path).endswith(".png"):
            figure.savefig(path, metadata={"Date": None} if str(path).endswith(".svg") else None)
            return
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=110, format="png")
        Image.open(buffer).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)


def over_epochs(axis, **labels):
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set(xlabel="epoch", **labels)


def legend(axis, **options):
    axis.legend(**{"frameon": False, "fontsize": 8} | options)


def color(name, index=0):
    return PALETTE[KNOWN.get(name, index) % len(PALETTE)]


def change_percent(before, after):
    """(after - before) / before, in percent."""
    return 100.0 * (after - before) / before


def over_seeds(series):
    """Series of runs that differ by seed, each indexed by x: a data frame by x with mean, low, high, deviation (sample), seeds."""
    wide = pd.concat([s.dropna() for s in series], axis=1) if series else pd.DataFrame()
    frame = pd.DataFrame({"mean": wide.mean(axis=1), "low": wide.min(axis=1), "high": wide.max(axis=1), "deviation": wide.std(axis=1),
                          "seeds": wide.notna().sum(axis=1)})  # fmt: skip
    return frame.sort_index().dropna(subset=["mean"])


def draw_over_seeds(axis, frame, label, colour, style="-"):
    """A line for the mean, a band from the lowest to the highest seed."""
    axis.plot(frame.index, frame["mean"], style, color=colour, label=label, linewidth=1.6, marker="." if len(frame) < 15 else None)
    if frame["seeds"].max() > 1:
        axis.fill_between(frame.index, frame["low"], frame["high"], color=colour, alpha=0.15, linewidth=0)


def min_max(values, low, high):
    """(r - min) / (max - min); 0 where all are equal."""
    return (values - low) / (high - low) if high > low else values * 0.0


def seeds_text(runs):
    seeds = sorted({run.seed for run in runs})
    return f"{len(seeds)} seed{'s' if len(seeds) > 1 else ''}"


def markdown(table, digits=4):
    """A data frame as a Markdown table; numbers with so many digits."""

    def cell(value):
        if isinstance(value, (float, np.floating)):
            if math.isnan(value):
                return ""
            if value == int(value) and abs(value) < 1e15:
                return str(int(value))
            return f"{value:.{digits}g}" if abs(value) < 10 ** (digits - 1) else f"{value:.0f}"
        return str(value).replace("|", "\\|")

    names = [str(name) for name in table.columns]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in table.itertuples(index=False)]
    return "\n".join(lines)
