"""A model through `rlgo optimise --force`, and what comes of it compared with the original in ONNX Runtime, as one line of JSON.

    python3 try_model.py FOLDER [SEED]     FOLDER holds model.onnx and oracle.npz; SEED: give names to sizes of its inputs

verdict: same; refused (rlgo calls its own rewrite wrong); unwritten (nothing that it writes passes its checks); status, crash, hang; invalid, differs, declared (the written model);
unusable (ONNX Runtime does not run the original).
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "interop"))
import _random_runs as runs  # noqa: E402
import open_sizes  # noqa: E402
from _own_error import LEVELS, TOLERANCE, OwnError  # noqa: E402
from _sessions import session  # noqa: E402

SECONDS = (1, 10)  # the second where the first leaves no time for a check, as on a busy machine
OPTIONS = ["--force", "--switches", "no", "--target", "onnxruntime", "--target.python", sys.executable]
LIMIT_S = 400  # a run of one second that has not ended by then hangs, also on a busy machine


def oracle_of(folder):
    """(inputs, outputs) by name."""
    with np.load(folder / "oracle.npz") as kept:
        return tuple({k.partition(" ")[2]: kept[k] for k in kept if k.startswith(kind)} for kind in ("in ", "out "))


def load(model):
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/trial.onnx")
        return session(f"{folder}/trial.onnx")


def optimise(source, target, folder, sizes=()):
    """(verdict, note); "" where a model is written. `sizes`: to time open dimensions at; those that rlgo makes up are large."""
    for seconds in SECONDS:
        verdict, note = optimise_in(seconds, source, target, folder, sizes)
        if verdict != "unwritten" or "give more --seconds" not in note:
            break
    return verdict, note[-700:]


def optimise_in(seconds, source, target, folder, sizes):
    command = [os.environ.get("RLGO_BINARY", runs.RLGO), "optimise", source, "-o", target, "--cost.folder", folder / "costs", "--seconds", seconds, *OPTIONS, *sizes]
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=LIMIT_S, cwd=folder)
    except subprocess.TimeoutExpired:
        return "hang", f"not ended after {LIMIT_S} s"
    printed = " ".join((done.stdout + done.stderr).split())
    if done.returncode < 0:
        return "crash", f"signal {-done.returncode}: {printed}"
    if done.returncode not in (0, 3):
        return ("refused" if "wrong" in printed else "status"), f"status {done.returncode}: {printed}"
    return ("", printed) if target.exists() else ("unwritten", printed)


def compared(source, target, tried):
    """(verdict, note): the original's outputs at each size with which it runs, against the result's."""
    own, declared = OwnError(source), [runs.declarations(onnx.load(path)) for path in (source, target)]
    for what in declared[0]:
        if declared[0][what] != declared[1][what]:
            return "declared", f"{what}: {declared[0][what]} became {declared[1][what]}"[:600]
    try:
        onnx.checker.check_model(str(target), full_check=True)
        sessions = {name: session(target, level) for name, level in LEVELS.items()}
    except Exception as error:
        return "invalid", str(error)[:300]
    undefined = sets = 0
    for feeds in tried:
        shapes = [list(v.shape) for v in feeds.values()]
        try:
            expected, moved = own.outputs(feeds)
        except Exception:  # not with these sizes
            continue
        if any(a.size == 0 for a in expected["disabled"]):  # a window does not fit into its image (docs/wild.md)
            continue
        sets += 1
        for level, one in sessions.items():
            try:
                found = one.run(None, feeds)
            except Exception as error:
                return "invalid", f"level {level}, inputs {shapes}: {str(error)[:300]}"
            wrong, count = own.what_differs(expected[level], moved, found)
            undefined += count
            if wrong:
                return "differs", f"level {level}, inputs {shapes}: {wrong}"
    return "same", f"{sets} sets of inputs" + (f"; {undefined} elements that are not finite in the original are others" if undefined else "")


def try_model(folder, seed=None):
    source, target = folder / "model.onnx", folder / "out.onnx"
    target.unlink(missing_ok=True)
    feeds, outputs = oracle_of(folder)
    model, names = onnx.load(source), {}
    feeds = {v.name: feeds[v.name] for v in model.graph.input}
    row = {"operators": len(model.graph.node), "types": sorted({n.op_type for n in model.graph.node}), "open": 0, "half": 0, "torch": ""}
    try:
        own = OwnError(source)
        row["half"] = int(own.tolerance == TOLERANCE[onnx.TensorProto.FLOAT16])
        row["torch"] = own.what_differs(list(outputs.values()), own.outputs(feeds)[1], session(source).run([*outputs], feeds))[0]
        if seed is not None:
            model, names = open_sizes.opened(model, feeds, load, np.random.default_rng(seed))
            source = folder / "open.onnx"
            onnx.save(model, source)
            row["open"] = len(names)
    except Exception as error:  # a fault of the exporter or the runtime
        return row | {"verdict": "unusable", "note": str(error)[:300]}
    sizes = [word for name, [(key, axis), *_] in names.items() for word in ("--size", f"{name}={max(2, feeds[key].shape[axis])}")]
    verdict, note = optimise(source, target, folder, sizes)
    if not verdict:
        found = re.search(r"(\d+) rewrites?:", note)
        row["rewrites"] = int(found.group(1)) if found else 0
        verdict, note = compared(source, target, open_sizes.sizes_to_try(feeds, names, np.random.default_rng(seed or 0)))
    return row | {"verdict": verdict, "note": note}


if __name__ == "__main__":
    place, *rest = sys.argv[1:]
    print(json.dumps(try_model(pathlib.Path(place).resolve(), *map(int, rest))))
