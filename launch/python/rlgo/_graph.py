"""Graphs and their costs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from . import _core
from ._core import CostModel, Graph
from ._kinds import FLAG, PATH, TEXT, WHOLE, takes
from ._model import ModelLike, Sizes, model_file, sizes_of

GraphLike = "Graph | ModelLike"


def zoo() -> list[str]:
    """Names of the graphs that come with rlgo: models of the literature, and small ones ("toy_...") for tests."""
    return _core.zoo()


@takes(batch=WHOLE, layers=WHOLE, sequence=WHOLE, image=WHOLE, seed=WHOLE, weights=FLAG)
def load(
    model: ModelLike,
    *,
    sizes: Sizes | None = None,
    dims: Sizes | None = None,
    batch: int = 1,
    layers: int = 0,
    sequence: int = 0,
    image: int = 0,
    seed: int = 0,
    weights: bool = True,
) -> Graph:
    """Reads an ONNX model, or makes a zoo graph.

    sizes: sizes (>= 2) of dimensions that stay open, at which costs are taken: {"batch": 4} or {"ids:1": 128}.
    dims: sizes (>= 0) that open dimensions get for good, in the written model too.
    batch, layers, sequence, image, seed: of zoo graphs; 0 is the model's own.
    weights: False leaves the numbers behind: enough for rewriting and for costs, not for save().
    Raises rlgo.Error, naming file and place, where the file is missing, damaged or no valid model.
    """
    with model_file(model) as path:
        zoo_options = (int(number) for number in (batch, layers, sequence, image, seed))
        return _core.load_graph(path, sizes_of(sizes, "sizes"), sizes_of(dims, "dims"), *zoo_options, bool(weights))


def as_graph(model: Graph | ModelLike, *, sizes: Sizes | None = None, dims: Sizes | None = None) -> Graph:
    """`model` itself where it is a graph, else what load() makes of it."""
    if isinstance(model, Graph):
        if sizes or dims:
            raise _core.UsageError("sizes and dims are for models that are loaded; give them to rlgo.load")
        return model
    return load(model, sizes=sizes, dims=dims)


@takes(name=TEXT, threads=WHOLE, repeats=WHOLE, seed=WHOLE, python=PATH)
def cost(name: str = "cpu", *, threads: int = 1, repeats: int = 9, seed: int = 0, python: str | None = None) -> CostModel:
    """What prices operators.

    name: a profile of the roofline formula ("cpu", "gpu", another one of rlgo's, or a file's path), which is the same on
    every machine; or a runtime (such as "onnxruntime"), which times operators in a child process as they are met.
    threads, repeats, seed: of such a runtime: its threads, samples per operator (the median counts), synthetic inputs.
    python: interpreter that has the runtime's package; this one where none is given.
    """
    runtimes = {p.name.removesuffix("_measurer.py") for p in _shipped("measurers").glob("*_measurer.py")}
    if name in runtimes:
        return _core.measured_cost(name, os.fspath(python or sys.executable), int(threads), int(repeats), int(seed))
    profiles = {p.stem for p in _shipped("configs/costs").glob("*.cost")}
    if name not in profiles and not os.path.exists(name):
        raise _core.UsageError(
            f"cost {name!r}: no such profile or runtime; profiles: {', '.join(sorted(profiles))}; runtimes: "
            f"{', '.join(sorted(runtimes))}; or the path of a profile"
        )
    return _core.analytic_cost(name if name in profiles else os.path.abspath(name))


def as_cost(given: str | CostModel) -> CostModel:
    """`given` itself where it is a cost model, else cost(given)."""
    return given if isinstance(given, CostModel) else cost(given)


def _shipped(folder: str) -> Path:
    """A folder of what rlgo ships: next to the package, or in the source tree that it was built in."""
    here = Path(_core.__file__).resolve().parent
    for root in (here / "share" / "rlgo", *here.parents):
        for name in (folder, f"launch/{folder}"):
            if (root / name).is_dir():
                return root / name
    raise _core.Error(f"{folder} was not found next to {here}")
