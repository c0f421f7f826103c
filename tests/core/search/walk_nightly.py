"""A walk's costs and hashes against trying every rewrite again, along 20,000 random rewrites on each of six graphs."""
import os
import pathlib
import subprocess

program = pathlib.Path(os.environ["RLGO_BINARY"]).parent / "test_core_search"
done = subprocess.run([program, "--gtest_also_run_disabled_tests", "--gtest_filter=*DISABLED_KeepsItForTwentyThousandMoves*"],
                      cwd=os.environ["RLGO_SOURCE"], capture_output=True, text=True, check=False)
assert done.returncode == 0 and "[  PASSED  ] 6 tests" in done.stdout, done.stdout[-2000:]
