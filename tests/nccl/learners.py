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
        said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stdout
    print(said, end="")
    ends = {int(rank): (int(status), float(seconds)) for rank, status, seconds in re.findall(r"rank (\d): status (\d+) after ([\d.]+) s", said)}
    assert "0 violations" in said, said
    return said, ends


if not PROGRAM.exists():
    print("rlgo is built without CUDA: skipped")
    sys.exit(77)

said, ends = run("normal")
assert ends[0][0] == ends[1][0] == 0, said
assert "2 destroyed, 0 aborted" in said, said  # in step: neither waited for the other until it aborted
said, ends = run("killed")
assert ends[0][0] == 75 and "no answer: NCCL on device 0: not all learners came to" in said, said
said, ends = run("memory")
assert ends[0][0] == 1 and "rank 0: error: learner rank 1 ended: CUDA out of memory" in said, said
assert "rank 1: error: CUDA out of memory" in said and ends[0][1] < 3, said
