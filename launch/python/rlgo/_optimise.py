"""One model faster, with evidence: what the command `rlgo optimise` does."""

from __future__ import annotations

import filecmp
import logging
import os
import shutil
import sys
import tempfile
import weakref
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from ._kinds import FLAG, NUMBER, PATH, PROGRESS, TEXT, WHOLE, WORDS, takes
from ._model import ModelLike, Sizes, mapping_of, model_file, read_proto, sizes_of, words_of
from ._progress import Bar, Progress

if TYPE_CHECKING:
    import onnx

_LOG = logging.getLogger("rlgo")
_LEVELS = (logging.INFO, logging.WARNING, logging.ERROR)


@dataclass(frozen=True)
class Check:
    """A comparison of the model before and after."""

    by: str  # what compared: "rlgo in double precision, 4 inputs"
    finding: str  # "same", "rounding", "differs", "wrong", "not compared", "skipped"
    error: float  # largest relative error
    allowed: float  # what it may be
    detail: str  # where the error is, or why nothing was compared
    limits: str  # what `error` does not tell


@dataclass(frozen=True)
class Result:
    """What rlgo.optimise came to. Where it did not improve the model, the model is the one that was given."""

    verdict: str  # one sentence
    improved: bool  # shown to be faster under the target, and to compute the same
    ratio: float  # latency after / before; 1.0 where nothing was found
    interval: tuple[float, float]  # of the ratio
    before_us: float  # median latency of a run of the model that was given; 0 where it was not measured
    after_us: float
    checked: bool  # outputs were compared, and nothing differs
    checks: list[Check] = field(repr=False)
    trace: list[tuple[str, int]] = field(repr=False)  # (rule, location) from the model's graph on
    target: str = ""  # runtime and version that it was measured under
    device: str = ""
    threads: int = 1
    seconds: float = 0.0  # that it took
    evidence: str = field(default="", repr=False)  # what the command line prints, all of it
    details: dict[str, Any] = field(default_factory=dict, repr=False)  # phases, costs by formula or measurement, changes, hashes
    path: str = field(default="", repr=False)  # file of the model; temporary where no `out` was given
    _native: Any = field(default=None, repr=False, compare=False)
    _keep: Any = field(default=None, repr=False, compare=False)  # removes the temporary file

    @property
    def speedup(self) -> float:
        """before / after: 1.42 is 1.42 times as fast."""
        return 1.0 / self.ratio if self.ratio else 1.0

    @property
    def rules(self) -> dict[str, int]:
        """How often each rule was applied."""
        return dict(Counter(rule for rule, _ in self.trace).most_common())

    @property
    def model(self) -> onnx.ModelProto:
        """The model as an onnx.ModelProto (needs the package onnx)."""
        return read_proto(self.path)

    @takes(path=PATH)
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model. Weights in files next to it (models above 2 GiB) go next to the new one, under their names;
        rlgo.Error where other files have these names."""
        source, target = Path(self.path), Path(path)
        names = _core.external_data_of(str(source))
        for name in names:
            if _is_same(target, source.parent / name):
                raise _core.Error(f"{target}: holds weights of the model; name another file")
        for name in names:
            there = target.parent / name
            if not there.exists():
                there.parent.mkdir(parents=True, exist_ok=True)
                _copy(source.parent / name, there)
            elif not filecmp.cmp(source.parent / name, there, shallow=False):
                raise _core.Error(f"{there}: is there already, with other contents than the model's weights; choose another folder")
        if not _is_same(source, target):
            _copy(source, target)

    def html(self) -> str:
        """A page that shows what was done and why."""
        return self._native.html()

    def __str__(self) -> str:
        return self.verdict


def _is_same(one: Path, other: Path) -> bool:
    return one.exists() and other.exists() and one.samefile(other)


def _copy(source: Path, target: Path) -> None:
    """Whole or not at all; a link stays one."""
    place = Path(os.path.realpath(target))
    with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".rlgo-", delete=False) as file:
        try:
            with open(source, "rb") as whole:
                shutil.copyfileobj(whole, file)
            file.flush()
            shutil.copymode(place if place.exists() else source, file.name)
            os.replace(file.name, place)
        except BaseException:
            os.unlink(file.name)
            raise


class _Folder:
    """A temporary folder that lives as long as the object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="rlgo-result-"))
        weakref.finalize(self, shutil.rmtree, str(self.path), ignore_errors=True)


def _default_cost_folder() -> str:
    cache = os.environ.get("RLGO_CACHE") or os.path.join(os.path.expanduser("~"), ".cache", "rlgo")
    return os.path.join(cache, "costs")


def numbers_text(name: str, value: Any) -> str:
    """An item of `inputs` as the engine reads it: "rate=16000"."""
    flat = value.ravel().tolist() if hasattr(value, "ravel") else value
    flat = list(flat) if isinstance(flat, (list, tuple)) else [flat]
    for number in flat:
        NUMBER.or_a(bool).or_a(str).check(f"inputs[{name!r}]", number)
    return f"{name}=" + ",".join(repr(float(v)) if isinstance(v, float) else v if isinstance(v, str) else str(int(v)) for v in flat)


@takes(
    out=PATH,
    target=TEXT,
    seconds=NUMBER,
    rules=WORDS,
    method=TEXT,
    cost=TEXT,
    profile=TEXT,
    cost_folder=PATH,
    threads=WHOLE,
    repeats=WHOLE,
    budget=WHOLE,
    tolerance=NUMBER,
    seed=WHOLE,
    force=FLAG,
    allow=TEXT,
    device=TEXT,
    python=PATH,
    progress=PROGRESS,
)
def optimise(
    model: ModelLike,
    *,
    out: str | os.PathLike[str] | None = None,
    target: str = "auto",
    seconds: float = 60.0,
    sizes: Sizes | None = None,
    dims: Sizes | None = None,
    inputs: Mapping[str, Any] | None = None,
    rules: str | Sequence[str] | None = None,
    method: str = "portfolio",
    cost: str = "measured",
    profile: str = "cpu",
    cost_folder: str | os.PathLike[str] | None = None,
    threads: int = 1,
    repeats: int = 5,
    budget: int = 1_000_000,
    tolerance: float = 1e-4,
    seed: int = 0,
    force: bool = False,
    allow: str = "",
    device: str = "auto",
    python: str | os.PathLike[str] | None = None,
    progress: Progress = None,
) -> Result:
    """Rewrites a model by proved rules, checks that it computes the same, and measures both under the target runtime.

    model: path of an ONNX file, a zoo graph's name, an onnx.ModelProto, or a model's bytes.
    out: where to write the faster model; only written where it is faster (or `force`). None: see Result.model, save().
    target: the runtime that will serve the model: "auto" (onnxruntime), "onnxruntime", another one that rlgo has a
        measurer for, or a measurer's command. LibTorch is for the command of a full build alone.
    seconds: for all of it, about, >= 1.
    sizes: sizes (>= 2) of open dimensions at which it is timed, {"batch": 4}; dims: sizes that they get for good.
    inputs: numbers for inputs whose values matter, {"rate": 16000}: one number, or one for each element.
    rules: words as for rlgo.rules.load. method: a search method that gives traces.
    cost: "measured" under the target, or "analytic" by the formula under `profile`.
    cost_folder: where measured costs are kept from call to call ("": nowhere).
    threads: of the runtime. tolerance: largest relative error in single precision, (0, 1].
    allow: "rounding=N": outputs of a quantised model may differ by N quantisation steps.
    python: interpreter that has the runtime's package; this one where none is given.
    progress: True shows a bar (tqdm), None does on terminals and in notebooks, a function gets (text, elapsed, total)
        in seconds; False: nothing. Notices go to the logger "rlgo".

    Ctrl-C raises KeyboardInterrupt; nothing is written then. Raises rlgo.Error with the message of the command line, and
    rlgo.UsageError for what no call may ask.
    """
    if not seconds >= 1:
        raise _core.UsageError(f"seconds is {seconds}; expected at least 1")
    if cost not in ("measured", "analytic"):
        raise _core.UsageError(f"cost '{cost}': expected measured or analytic")
    keep = _Folder()
    path = keep.path / "model.onnx" if out is None else Path(os.fspath(out))
    request = {
        "out": str(path),
        "target": target,
        "seconds": float(seconds),
        "sizes": [f"{k}={v}" for k, v in sizes_of(sizes, "sizes").items()],
        "dims": [f"{k}={v}" for k, v in sizes_of(dims, "dims").items()],
        "inputs": [numbers_text(name, value) for name, value in mapping_of(inputs, "inputs").items()],
        "rules": words_of(rules),
        "method": method,
        "cost": cost,
        "profile": profile,
        "cost_folder": os.fspath(_default_cost_folder() if cost_folder is None else cost_folder),
        "threads": int(threads),
        "repeats": int(repeats),
        "budget": int(budget),
        "tolerance": float(tolerance),
        "seed": int(seed),
        "force": bool(force),
        "allow": allow,
        "device": device,
        "python": os.fspath(python or sys.executable),
    }
    with model_file(model, zoo_as_file=True) as file, Bar(progress, seconds) as bar:
        request["model"] = file
        found = _core.optimise(request, bar.show, lambda level, text: _LOG.log(_LEVELS[min(level, 2)], text))
        reported = found.as_dict()
        if not reported["written"]:
            path = _unchanged(model, file, keep)
    return _result(reported, path, found, keep)


def _unchanged(model: ModelLike, file: str, keep: _Folder) -> Path:
    """Where the model that was given stands: its own file, or a copy of the temporary one."""
    if isinstance(model, (str, os.PathLike)) and os.fspath(model) == file:
        return Path(file)
    for part in Path(file).parent.iterdir():
        shutil.copyfile(part, keep.path / part.name)
    return keep.path / "model.onnx"


def _result(reported: dict[str, Any], path: Path, found: Any, keep: Any) -> Result:
    changed = reported["written"] and reported["measured"]
    latency = {key: reported.pop(key) for key in ("ratio", "lower", "upper", "before_us", "after_us")}
    trace = reported.pop("trace")
    checks = [Check(**check) for check in reported.pop("checks")]
    named = ("verdict", "improved", "checked", "target", "device", "threads", "seconds", "evidence")
    given = {key: reported.pop(key) for key in named}
    # What was tried and is not the result: its numbers are not the result's.
    reported["candidate"] = {"name": reported["candidate"], "trace": trace, **(latency if reported["measured"] else {})}
    return Result(
        **given,
        ratio=latency["ratio"] if changed else 1.0,
        interval=(latency["lower"], latency["upper"]) if changed else (1.0, 1.0),
        before_us=latency["before_us"] if reported["measured"] else 0.0,
        after_us=latency["after_us" if changed else "before_us"] if reported["measured"] else 0.0,
        trace=trace if reported["written"] else [],
        checks=checks,
        details=reported,
        path=str(path),
        _native=found,
        _keep=keep,
    )


optimize = optimise
