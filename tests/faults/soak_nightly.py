"""An hour at eight ranks: no rank's memory grows. RLGO_SOAK_S: another duration; RLGO_SOAK_OUT: where the samples go."""
import os
import subprocess
import sys

from _faults import BINARY, SOURCE, environment
from _rlgo import main


def hour(folder):
    """launch/scripts/soak.sh"""
    out = os.environ.get("RLGO_SOAK_OUT", str(folder / "soak"))
    environ = {**environment(), "RLGO_PROGRAM": BINARY, "SECONDS_LONG": os.environ.get("RLGO_SOAK_S", "3600"), "RLGO_PYTHON": sys.executable}
    done = subprocess.run([SOURCE / "launch/scripts/soak.sh", out], cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


if __name__ == "__main__":
    main(hour)
