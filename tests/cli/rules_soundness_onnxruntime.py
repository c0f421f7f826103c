"""Rewrites at random places, before and after, run in ONNX Runtime: the pairs of `rlgo rules soundness --pairs`.

Inputs are of the kinds that the models declare (integers, truth values, floats); outputs must agree up to rounding where
the original's are finite. RLGO_PAIRS and RLGO_APPLICATIONS set how many (nightly: more).
"""
import os
import sys

try:
    import numpy as np
    import onnx
    from onnxruntime.capi.onnxruntime_pybind11_state import NotImplemented as NotImplemented_
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from _rlgo import main, rlgo
from _sessions import session

APPLICATIONS = int(os.environ.get("RLGO_APPLICATIONS", "4000"))
EVERY = int(os.environ.get("RLGO_EVERY", "20"))
TYPES = {"tensor(float)": np.float32, "tensor(double)": np.float64, "tensor(float16)": np.float16, "tensor(int64)": np.int64,
         "tensor(int32)": np.int32, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(bool)": np.bool_}


def feed(model, rng):
    values = {}
    for item in model.get_inputs():
        kind = TYPES[item.type]
        if np.issubdtype(kind, np.floating):
            values[item.name] = rng.uniform(0.25, 2, item.shape).astype(kind)  # roots and divisors have values
        else:
            values[item.name] = rng.integers(0, 2, item.shape).astype(kind)
    return values


def compare(before, after):
    """the largest difference next to the largest element, or None where the runtime lacks an operator for these types"""
    try:
        first = session(before)
        values = feed(first, np.random.default_rng(7))
        expected = first.run(None, values)
    except Exception:  # an operator that the runtime does not have for this type
        return None
    try:
        second = session(after)
    except NotImplemented_:  # HardSigmoid of float16, say; rlgo optimise does not write what the target cannot run
        return None
    found = second.run(None, {i.name: values[i.name] for i in second.get_inputs()})
    worst = 0.0
    for a, b in zip(expected, found, strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype, (before, a.shape, b.shape)
        if not np.issubdtype(a.dtype, np.floating):
            worst = max(worst, float(np.any(a != b)))
            continue
        if a.size == 0 or not np.isfinite(a).all():
            continue
        scale = max(1.0, float(np.abs(a).max()))
        worst = max(worst, float(np.abs(a.astype(np.float64) - b.astype(np.float64)).max()) / scale)
    half = any(i.type == "tensor(float16)" for i in first.get_inputs())
    return worst / (100 if half else 1)


def pairs(folder):
    """shipped rules at random places, in another runtime"""
    rlgo("rules", "soundness", "--applications", str(APPLICATIONS), "--pairs", folder / "pairs", "--every", str(EVERY),
         cwd=folder, timeout=3000)
    ran = skipped = 0
    for before in sorted((folder / "pairs").glob("*-before.onnx")):
        after = before.with_name(before.name.removesuffix("-before.onnx") + "-after.onnx")  # rules may have "-before" in their names
        worst = compare(before, after)
        if worst is None:
            skipped += 1
            continue
        ran += 1
        assert worst < 2e-3, (before.name, worst)
    print(f"{ran} pairs agree in ONNX Runtime, {skipped} that it does not run")
    assert ran >= APPLICATIONS // EVERY // 3, (ran, skipped)


if __name__ == "__main__":
    main(pairs)
