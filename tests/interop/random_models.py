"""`rlgo optimise` on a few random models (_random_models.py): it ends in 0 or 3, declares what the original declares, and
computes the same in ONNX Runtime. random_models_nightly.py does it with many."""
import sys

import _random_runs

SEEDS = range(0, 48, 2)  # of those with sizes given: synthetic ones may be large, and take long


def main():
    if not _random_runs.RLGO.is_file():
        print("rlgo is not built: skipped")
        return 77
    counts, failed = _random_runs.campaign(SEEDS, ["--target", "libtorch", "--cost", "analytic"], seconds="1")
    print(dict(counts))
    return 1 if failed or counts["0"] + counts["3"] < len(SEEDS) * 3 // 4 else 0


if __name__ == "__main__":
    sys.exit(main())
