"""What the tests of faults share: ranks as processes, damaging files, ending a process within a chosen system call."""
import atexit
import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
from _rlgo import BINARY, SOURCE, environment, metrics, skip, state, stored, wait_until  # noqa: E402,F401

ENDLESS = ["--epochs", 1000000, "--train.steps-per-epoch", 60]


def job(*arguments, cwd, ranks, log="output.txt", **variables):
    """Starts a run as users do (launch/scripts/batch.sh, which launch/run.sh shares its job with)."""
    with open(Path(cwd) / log, "a") as out:
        return ended_with_us(subprocess.Popen([str(SOURCE / "launch/scripts/batch.sh"), "--np", str(ranks), *map(str, arguments)], cwd=cwd,
                                env={**environment(), "RLGO_PROGRAM": BINARY, "RLGO_GRACE_S": "5", **variables},
                                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True))


def ended_with_us(process):
    """A job that a failing test leaves behind is ended with the test."""

    def stop():
        for _ in range(2):
            if process.poll() is None:
                process.terminate()
                time.sleep(2)

    atexit.register(stop)
    return process


def ranks_of(process):
    """{rank: process id} of a job."""
    sys.path.insert(0, str(SOURCE / "results"))
    import soak

    return soak.ranks_of(process.pid)


def epochs(run):
    return len(metrics(run)) if (run / "metrics.csv").exists() else 0


def log_of(run):
    path = run / "log.txt"
    return path.read_text() if path.exists() else ""


def episodes_of(run, rank):
    """Numbers of a rank's stored episodes."""
    try:
        frame = stored(run)
    except FileNotFoundError:  # no part is finished yet
        return set()
    return set(frame[frame["rank"] == rank]["episode"])


def end(process, number=signal.SIGINT, status=0, seconds=90):
    """Asks a job to end and waits until it has."""
    process.send_signal(number)
    try:
        found = process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    assert found == status, f"status {found}, not {status}"


def chooser():
    """Random, and told: RLGO_FAULT_SEED repeats it."""
    seed = int(os.environ.get("RLGO_FAULT_SEED", int.from_bytes(os.urandom(4), "little")))
    print(f"  RLGO_FAULT_SEED={seed}")
    return random.Random(seed)


def kill_in_call(folder):
    """The library (LD_PRELOAD) that ends a process by SIGKILL within a system call: see kill_in_call.c."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        skip("no C compiler")
    library = Path(folder) / "kill_in_call.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, Path(__file__).parent / "kill_in_call.c", "-ldl"], check=True)
    ctypes.CDLL(str(library))  # it loads
    return library
