"""Two models side by side: what the command `rlgo compare` does."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from . import _core
from ._kinds import NUMBER, PATH, TEXT, WHOLE, takes
from ._model import ModelLike, Sizes, mapping_of, model_file, sizes_of
from ._optimise import numbers_text


@dataclass(frozen=True)
class Comparison:
    """What rlgo.compare found out."""

    same_outputs: bool | None  # None: the runtime answers no outputs
    faster: bool  # the second model, shown with an error of 1 %
    slower: bool
    too_slow: bool  # shown to take more than `limit` of the first one's time
    ratio: float  # second / first
    interval: tuple[float, float]  # of the ratio in a further process; the upper end may be inf
    before_us: float  # latency of the first model
    after_us: float
    evidence: str = field(repr=False)  # what the command prints
    details: dict[str, Any] = field(repr=False)  # members of the JSON document rlgo.compare/1

    @property
    def status(self) -> int:
        """Exit status of the command: 1 where outputs differ, 3 where the second model is too slow, else 0."""
        return 1 if self.same_outputs is False else 3 if self.too_slow else 0

    def __str__(self) -> str:
        return self.evidence.splitlines()[0]


@takes(target=TEXT, seconds=NUMBER, limit=NUMBER, sets=WHOLE, tolerance=NUMBER, threads=WHOLE, seed=WHOLE, python=PATH)
def compare(
    first: ModelLike,
    second: ModelLike,
    *,
    target: str = "auto",
    seconds: float = 10.0,
    sizes: Sizes | None = None,
    dims: Sizes | None = None,
    inputs: Mapping[str, Any] | None = None,
    limit: float = 1.0,
    sets: int = 4,
    tolerance: float = 1e-4,
    threads: int = 1,
    seed: int = 0,
    python: str | os.PathLike[str] | None = None,
) -> Comparison:
    """Compares outputs of two models of the same inputs and outputs, and times both in turns in fresh processes.

    first, second: as for rlgo.optimise. limit: ratio of latencies above which the second counts as too slow, >= 1.
    seconds: of the measurement, about. sets: of random inputs whose outputs are compared. tolerance: relative error
    that outputs may have; 8 times the runtime's own rounding is allowed in any case. The rest is as for rlgo.optimise.

    Raises rlgo.Error where a model cannot be read or run, or where names or types of inputs and outputs differ.
    """
    request = {
        "target": target,
        "seconds": float(seconds),
        "sizes": [f"{k}={v}" for k, v in sizes_of(sizes, "sizes").items()],
        "dims": [f"{k}={v}" for k, v in sizes_of(dims, "dims").items()],
        "inputs": [numbers_text(name, value) for name, value in mapping_of(inputs, "inputs").items()],
        "limit": float(limit),
        "sets": int(sets),
        "tolerance": float(tolerance),
        "threads": int(threads),
        "seed": int(seed),
        "python": os.fspath(python or sys.executable),
    }
    with ExitStack() as files:
        for name, model in (("first", first), ("second", second)):
            request[name] = files.enter_context(model_file(model, zoo_as_file=True))
        document, evidence = _core.compare(request)
    found = json.loads(document)
    latency = found["latency"]
    high = float("inf") if latency["ratio_high"] is None else latency["ratio_high"]
    return Comparison(
        same_outputs=found["same_outputs"],
        faster=latency["faster"],
        slower=latency["slower"],
        too_slow=found["too_slow"],
        ratio=latency["ratio"],
        interval=(latency["ratio_low"], high),
        before_us=latency["before_us"],
        after_us=latency["after_us"],
        evidence=evidence,
        details=found,
    )
