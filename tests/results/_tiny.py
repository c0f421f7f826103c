"""Helpers of these tests: the package, tiny real runs, skipping where something is missing."""
import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("RLGO_SOURCE", Path(__file__).resolve().parents[2]))
RLGO = Path(os.environ.get("RLGO_BINARY", SOURCE / "build/release/rlgo"))
sys.path.insert(0, str(SOURCE / "results"))

try:
    import h5py  # noqa: F401
    import matplotlib  # noqa: F401
    import numpy  # noqa: F401
    import pandas  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SMALL = ["--cost", "analytic", "--env.max-steps", "12", "--gnn.rounds", "1", "--gnn.width", "8", "--wm.hidden", "8", "--wm.mixtures", "2", "--dream.width", "8",
         "--dream.steps-per-epoch", "64", "--dream.batch", "8", "--wm.passes", "1", "--evaluate.every", "1", "--train.steps-per-epoch", "48",
         "--check.repeats", "3", "--train.polish", "false", "--policy.beta", "0.5"]  # fmt: skip


def rlgo(*arguments, **options):
    done = subprocess.run([RLGO, *map(str, arguments)], capture_output=True, text=True, cwd=SOURCE, **options)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def train(runs, name, agent="model-free", seed=1, epochs=4, *more):
    rlgo("--graph", "toy_conv", "--agent", agent, "--seed", seed, "--epochs", epochs, "--runs", runs, "--name", name, *SMALL, *more)
    return Path(runs) / name


def analyse(*arguments):
    """(status, standard output, standard error) of a command of the package."""
    from rlgo_results.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main([str(a) for a in arguments])
    return status, out.getvalue(), err.getvalue()
