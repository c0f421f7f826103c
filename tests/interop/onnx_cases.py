"""A sample of ONNX's own test models (_onnx_cases.py) through `rlgo optimise`; onnx_cases_nightly.py takes all."""
import sys

import _onnx_cases
import _random_runs

EVERY = 50


def main():
    if not _random_runs.RLGO.is_file():
        print("rlgo is not built: skipped")
        return 77
    cases = _onnx_cases.cases()[::EVERY]
    counts, failed = _onnx_cases.campaign(cases, ["--target", "libtorch", "--cost", "analytic"])
    print(dict(counts))
    return 1 if failed or counts["0"] + counts["3"] < len(cases) // 2 else 0


if __name__ == "__main__":
    sys.exit(main())
