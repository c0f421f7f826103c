"""`rlgo optimise` on many random models (_random_models.py and _typed_models.py in turns), half of them for ONNX Runtime, half
for LibTorch.

  python3 random_models_nightly.py [--first N] [--count N] [--state FILE]

--state FILE keeps the counts, and continues behind the last seed of an earlier call.
"""
import argparse
import collections
import json
import pathlib
import sys

import _random_models
import _random_runs
import _typed_models

BATCH = 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=10_000)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--state")
    args = parser.parse_args()
    first, counts, failed = args.first, collections.Counter(), []
    state = pathlib.Path(args.state) if args.state else None
    if state and state.exists():
        known = json.loads(state.read_text())
        first, counts, failed = known["next"], collections.Counter(known["counts"]), known["failed"]
    for seed in range(first, args.first + args.count, BATCH):
        target = ["--target", "libtorch", "--cost", "analytic"] if seed // BATCH % 2 else ["--target", "onnxruntime", "--target.python", sys.executable]
        generator = (_random_models, _typed_models)[seed // BATCH // 2 % 2]
        some, wrong = _random_runs.campaign(range(seed, min(seed + BATCH, args.first + args.count)), target, generator=generator)
        counts += some
        failed += wrong
        if state:
            state.write_text(json.dumps({"next": seed + BATCH, "counts": counts, "failed": failed}))
    print(f"{sum(counts.values())} models: {counts['0']} made faster, {counts['3']} not, {counts['nothing written']} that the target cannot run, "
          f"{counts['not run']} that ONNX Runtime does not take, {len(failed)} failed {failed or ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
