"""A conclusion that lasts: rank 0 measures for minutes while the actors, long done, wait for the end of the job."""
import time

from _faults import job, log_of
from _rlgo import complete, main


def minutes(folder):
    """end-to-end measurements of more than 70 s: no actor ends the job before them"""
    options = ["--graph", "squeezenet1_1", "--agent", "random", "--cost", "analytic", "--epochs", 1, "--train.steps-per-epoch", 20]
    repeats = 3000
    while True:  # as many as last long enough on this machine
        name = f"r{repeats}"
        begin = time.monotonic()
        assert job(*options, "--check.repeats", repeats, "--name", name, cwd=folder, ranks=3).wait(timeout=1500) == 0, (folder / "output.txt").read_text()
        lasted = time.monotonic() - begin
        complete(folder / "runs" / name)
        assert "MPI_ABORT" not in (folder / "output.txt").read_text() and "is lost" not in log_of(folder / "runs" / name)
        print(f"  {repeats} runs of the model: {lasted:.0f} s")
        if lasted > 90:
            return
        repeats = int(repeats * 100 / lasted) + 1


if __name__ == "__main__":
    main(minutes)
