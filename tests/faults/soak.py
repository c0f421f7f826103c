"""Memory of a run under watch: a short soak is flat, and the judge finds a rank that leaks (results/soak.py)."""
import os
import random
import shutil
import subprocess
import sys
import threading

from _faults import BINARY, SOURCE, environment
from _rlgo import main

sys.path.insert(0, str(SOURCE / "results"))
import soak  # noqa: E402


def series(mib_per_s, seconds=60, noise=0.2):
    random.seed(1)
    start = [(0.0, 60.0), (1.0, 65.0), (2.0, 69.0)]  # the warm-up does not count
    return start + [(t, 70 + mib_per_s * t + random.uniform(0, noise)) for t in range(3, seconds)]


def judge(_):
    """a rank that grows by a quarter of a MiB a second leaks; noise, a warm-up and one jump do not; few samples are no proof"""
    flat = {"max_mib_per_hour": 8, "max_growth_mib": 4}
    lines, verdict = soak.judge({0: series(0), 1: series(0.25)}, **flat)
    assert not verdict and "flat" in lines[0] and "LEAKS" in lines[1], lines
    assert soak.judge({0: series(0), 1: series(0, noise=3)}, **flat)[1]
    for at in (25, 30, 40, 50):
        assert soak.judge({0: [(t, m + (6 if t > at else 0)) for t, m in series(0)]}, **flat)[1], at
    stairs = [(t, m + 2 * (t // 5)) for t, m in series(0)]
    assert not soak.judge({0: stairs}, **flat)[1]
    assert not soak.judge({0: series(0)[:12]}, **flat)[1]
    assert not soak.judge({}, **flat)[1]
    hour = [(float(t), 70 + 12 / 3600 * t) for t in range(0, 3600, 10)]  # 12 MiB an hour, in an hour
    assert not soak.judge({0: hour}, **flat)[1]
    assert soak.judge({0: [(t, 70 + (m - 70) / 4) for t, m in hour]}, **flat)[1]


def late(folder):
    """a rank that starts after the others have been seen is sampled too, and one that has ended is left"""
    program = folder / "rlgo"
    shutil.copy(shutil.which("sleep"), program)
    job = subprocess.Popen([shutil.which("sleep"), "60"])
    ranks, samples = [], folder / "memory.csv"

    def start(rank):
        variables = {**os.environ, "RLGO_JOB_PID": str(job.pid), "OMPI_COMM_WORLD_RANK": str(rank)}
        ranks.append(subprocess.Popen([program, "60"], env=variables))

    def wait_for(rank, count=1):
        for _ in range(600):
            if samples.exists() and len(soak.read(samples).get(rank, [])) >= count:
                return
            watcher.join(0.1)
        raise AssertionError(f"no sample of rank {rank}")

    watcher = threading.Thread(target=soak.watch, args=(job.pid, samples, 0.05))
    watcher.start()
    try:
        start(0)
        wait_for(0)
        start(1)
        wait_for(1)
        ranks[0].kill()
        ranks[0].wait()
        before = len(soak.read(samples)[1])
        wait_for(1, before + 3)
    finally:
        for process in (*ranks, job):
            process.kill()
            process.wait()
        watcher.join()
    found = soak.read(samples)
    assert sorted(found) == [0, 1] and found[0][-1][0] < found[1][-1][0], found


def short(folder):
    """eight ranks for 45 s: samples of all of them, and no rank grows"""
    for seconds in (45, 180):  # longer where the machine is so busy that there are too few samples
        environ = {**environment(), "RLGO_PROGRAM": BINARY, "SECONDS_LONG": str(seconds), "EVERY": "0.5", "RLGO_PYTHON": sys.executable}
        out = folder / f"soak-{seconds}"
        done = subprocess.run([SOURCE / "launch/scripts/soak.sh", out], cwd=folder, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        if "at least 10 are needed" not in done.stdout:
            break
    print("  " + done.stdout.replace("\n", "\n  ").rstrip())
    assert done.returncode == 0, done.stdout + done.stderr
    found = soak.read(out / "memory.csv")
    assert sorted(found) == list(range(8)) and all(len(points) >= 15 for points in found.values())
    assert all(20 < points[-1][1] < 1000 for points in found.values()), "private memory in MiB"
    assert (out / "memory.svg").stat().st_size > 5000


if __name__ == "__main__":
    main(judge, late, short)
