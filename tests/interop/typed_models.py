"""`rlgo optimise` on a few typed random models (_typed_models.py): it ends in 0 or 3, declares what the original declares, and
computes the same in ONNX Runtime at five sets of sizes. random_models_nightly.py does it with many."""
import sys

import _random_runs
import _typed_models

SEEDS = range(0, 28, 2)  # of those with sizes given


def main():
    if not _random_runs.RLGO.is_file():
        print("rlgo is not built: skipped")
        return 77
    counts, failed = _random_runs.campaign(SEEDS, ["--target", "libtorch", "--cost", "analytic"], seconds="1", generator=_typed_models)
    print(dict(counts))
    return 1 if failed or counts["0"] + counts["3"] < len(SEEDS) * 3 // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
