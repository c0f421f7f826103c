"""`rlgo optimise` on all of ONNX's own test models (_onnx_cases.py).

  python3 onnx_cases_nightly.py [--state FILE] [--match WORD] [OPTIONS of optimise]

--state FILE keeps the counts, and continues behind the last model of an earlier call; --match takes those whose name holds WORD.
"""
import argparse
import collections
import json
import pathlib
import sys

import _onnx_cases

BATCH = 20


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--state")
    parser.add_argument("--match", default="")
    args, options = parser.parse_known_args()
    cases = [case for case in _onnx_cases.cases() if args.match in case.name]
    begin, counts, failed = 0, collections.Counter(), []
    state = pathlib.Path(args.state) if args.state else None
    if state and state.exists():
        known = json.loads(state.read_text())
        begin, counts, failed = known["next"], collections.Counter(known["counts"]), known["failed"]
    for first in range(begin, len(cases), BATCH):
        some, wrong = _onnx_cases.campaign(cases[first:first + BATCH], options or ["--target", "libtorch", "--cost", "analytic"])
        counts += some
        failed += wrong
        if state:
            state.write_text(json.dumps({"next": first + BATCH, "counts": counts, "failed": failed}))
    print(f"{sum(counts.values())} models: {counts['0']} made faster, {counts['3']} not, {counts['nothing written']} that the target cannot run, "
          f"{counts['not run']} that nothing at hand runs, {len(failed)} failed {failed or ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
