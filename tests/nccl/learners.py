"""Two learners as processes with the real NCCL plug-in over stub libraries: a normal end, one killed, one out of memory."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(os.environ["RLGO_BINARY"]).parent / "test_nccl"


def run(scenario):
    with tempfile.TemporaryDirectory() as folder:
        command = ["mpirun", "-np", "2", "--oversubscribe", "--bind-to", "none", "--enable-recovery", PROGRAM, "--learner", scenario, f"{folder}/ranks"]
        printed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    print(printed, end="")
    ends = {int(rank): (int(status), float(seconds)) for rank, status, seconds in re.findall(r"rank (\d): status (\d+) after ([\d.]+) s", printed)}
    assert "0 violations" in printed, printed
    return printed, ends


if not PROGRAM.exists():
    print("rlgo is built without CUDA: skipped")
    sys.exit(77)

printed, ends = run("normal")
assert ends[0][0] == ends[1][0] == 0, printed
assert "2 destroyed, 0 aborted" in printed, printed  # in step: neither waited for the other until it aborted
printed, ends = run("killed")
assert ends[0][0] == 75 and "no answer: NCCL on device 0: not all learners came to" in printed, printed
printed, ends = run("memory")
assert ends[0][0] == 1 and "rank 0: error: learner rank 1 ended: CUDA out of memory" in printed, printed
assert "rank 1: error: CUDA out of memory" in printed and ends[0][1] < 3, printed
