"""Each shipped rule at a random place of a random model with open dimensions: ONNX Runtime's outputs before and after, at
sizes that the import never saw."""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

from _sessions import session

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = [ROOT / "configs" / "rules" / name for name in ("base.rules", "runtime.rules", "motion.rules", "generated.rules")]
RLGO = pathlib.Path(os.environ.get("RLGO_BINARY") or ROOT / "build" / "release" / "rlgo")
PRIMES = [2, 3, 5, 7, 11, 13]
MOST_ELEMENTS = 200_000  # of one input
TOLERANCE = 2e-3  # of the largest element: in f32, sums in another order; a wrong shape or a missing part is far more


def test_program():
    for folder in (RLGO.parent / "tests", RLGO.parent):
        if (folder / "test_core_onnx").is_file():
            return folder / "test_core_onnx"
    print("test_core_onnx is not built: skipped")
    sys.exit(77)


def sizes_of(samples, rng):
    """Five sets of sizes: 1, primes, three and ten times the sample, anything; never the sample itself."""
    sets = [dict.fromkeys(samples, 1),
            {name: int(rng.choice(PRIMES)) for name in samples},
            {name: 3 * size for name, size in samples.items()},
            {name: 10 * size if name == min(samples) else size + 1 for name, size in samples.items()},
            {name: int(rng.integers(1, 20)) for name in samples}]
    return [dict((n, s + 1) for n, s in sizes.items()) if sizes == samples else sizes for sizes in sets]


def window_up(extent, pad_begin, pad_end, window, stride, dilation):
    """Windows along an axis, rounded up; 0 where not even one fits."""
    room = extent + pad_begin + pad_end - (dilation * (window - 1) + 1)
    steps = -(-room // stride)
    return 0 if room < 0 else steps + (steps * stride < extent + pad_begin)


def fits(need, sizes):
    """Whether a window fits; ONNX does not say what runtimes do where it does not."""
    terms = {"joint": lambda *all: next((one for one in all if one != 1), 1), "window": window_up}
    return eval(need.replace("/", "//").replace(";", ","), terms, sizes)


def feeds_of(model, sizes, rng):
    feeds = {}
    for value in model.get_inputs():
        shape = [d if isinstance(d, int) else sizes[d] for d in value.shape]
        if np.prod(shape) > MOST_ELEMENTS:
            return None
        feeds[value.name] = (rng.standard_normal(shape).astype(np.float32) if value.type == "tensor(float)"
                             else np.zeros(shape, np.int64 if "64" in value.type else np.int32 if "32" in value.type else bool))
    return feeds


def difference(before, after):
    """None where they are the same up to rounding, else what differs."""
    for k, (a, b) in enumerate(zip(before, after, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {k}: {a.dtype}{list(a.shape)} became {b.dtype}{list(b.shape)}"
        if a.dtype.kind != "f" or a.size == 0:
            if not np.array_equal(a, b):
                return f"output {k}: other values"
            continue
        finite = np.isfinite(a)
        if not finite.any():
            continue
        if (~np.isfinite(b[finite])).mean() > 0.01:
            return f"output {k}: no number where there was one"
        both = finite & np.isfinite(b)
        error = np.abs(a - b, where=both, out=np.zeros_like(a)).max() / max(np.abs(a[both]).max(initial=0), 1e-3)
        if error > TOLERANCE:
            return f"output {k}: relative error {error:.2g}"
    return None


def compare(before, after, samples, needs, seed):
    """(sizes compared, sizes at which the original does not run, what differs or None)."""
    rng = np.random.default_rng(seed)
    one, two = session(before), session(after)
    compared = refused = 0
    for sizes in sizes_of(samples, rng):
        feeds = feeds_of(one, sizes, rng)
        if feeds is None or not all(fits(need, sizes) for need in needs):
            continue
        try:
            expected = one.run(None, feeds)
        except Exception:  # what ONNX Runtime raises has no common class
            refused += 1
            continue
        try:
            found = two.run(None, feeds)
        except Exception as error:
            return compared, refused, f"sizes {sizes}: the result does not run: {str(error)[:200]}"
        what = difference(expected, found)
        if what:
            return compared, refused, f"sizes {sizes}: {what}"
        compared += 1
    return compared, refused, None


class Counts:
    def __init__(self):
        self.applied = collections.Counter()  # by rule
        self.nowhere = collections.Counter()
        self.compared = self.refused = 0
        self.wrong = []

    def summary(self):
        return (f"{sum(self.applied.values())} applications of {len(self.applied)} rules, {self.compared} comparisons, "
                f"{self.refused} sizes at which the original does not run, {len(self.wrong)} differences")


def run_batch(seed, first, count, counts):
    """Rules number `first` to `first + count - 1`, round and round."""
    with tempfile.TemporaryDirectory() as folder:
        lines = subprocess.run([test_program(), "--open-pairs", folder, str(seed), str(first), str(count), *map(str, RULES)],
                               check=True, capture_output=True, text=True).stdout.splitlines()
        for line in lines:
            kind, rule, *rest = line.split()
            if kind == "none":
                counts.nowhere[rule] += 1
                continue
            needs = [part for part in rest[1:] if ">=" in part]
            number, samples = rest[0], {n: int(s) for n, s in (part.split("=") for part in rest[1:] if ">=" not in part)}
            path = pathlib.Path(folder)
            compared, refused, what = compare(path / f"{number}_before.onnx", path / f"{number}_after.onnx", samples, needs, int(number))
            counts.applied[rule] += 1
            counts.compared += compared
            counts.refused += refused
            if what:
                counts.wrong.append(f"{rule} (seed {seed}, number {number}): {what}; samples {samples}")
                print("DIFFERENT", counts.wrong[-1], flush=True)
