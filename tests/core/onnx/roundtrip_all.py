"""Round trip of ONNX's own test models. A sample by default; RLGO_TEST_ALL=1 takes all of them."""
import collections
import os
import sys
import tempfile

from _compare import DATA, compare, random_inputs, round_trip_all, stored_inputs
import onnx

SAMPLE_STEP = 12


def cases():
    """(model path, folder of stored inputs or None)"""
    found = []
    for kind in ("node", "simple", "pytorch-converted", "pytorch-operator"):
        for folder in sorted((DATA / kind).iterdir()):
            if (folder / "model.onnx").exists():
                found.append((folder / "model.onnx", folder / "test_data_set_0"))
    if not os.environ.get("RLGO_TEST_ALL"):
        found = found[::SAMPLE_STEP]
    light = sorted((DATA / "light").glob("*.onnx"))
    if not os.environ.get("RLGO_TEST_ALL"):
        light = [p for p in light if "squeezenet" in p.name or "shufflenet" in p.name]
    return found + [(p, None) for p in light]


def main():
    with tempfile.TemporaryDirectory() as out:
        todo = cases()
        outputs = [f"{out}/{k}.onnx" for k in range(len(todo))]
        errors = round_trip_all([(str(path), target) for (path, _), target in zip(todo, outputs)])
        counts, failures = collections.Counter(), []
        for (path, stored), target in zip(todo, outputs):
            name = path.parent.name if stored else path.stem
            error = errors[str(path)]
            if error is not None:
                result = f"FAIL: {error}"
            else:
                model = onnx.load(path)
                feeds = stored_inputs(stored, model) if stored else random_inputs(model, 1)
                result = compare(path, target, feeds)
            counts[result.split(":")[0]] += 1
            if result.startswith("FAIL"):
                failures.append(f"{name}: {result}")
        print(dict(counts))
        print("\n".join(failures))
        return 1 if failures or counts["same"] < len(todo) // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
