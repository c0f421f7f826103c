"""A conclusion that lasts: rank 0 checks for minutes while the actors, long done, wait for the end of the job."""
import time

from _faults import job, log_of
from _rlgo import complete, main


def minutes(folder):
    """checks of more than 90 s: no actor ends the job before them"""
    options = ["--graph", "resnet50", "--agent", "random", "--cost", "analytic", "--epochs", 1, "--train.steps-per-epoch", 20]
    seeds = 200
    while True:  # as many as last long enough on this machine
        name = f"r{seeds}"
        begin = time.monotonic()
        assert job(*options, "--check.seeds", seeds, "--check.repeats", 3, "--name", name, cwd=folder, ranks=3).wait(timeout=1500) == 0, (folder / "output.txt").read_text()
        lasted = time.monotonic() - begin
        complete(folder / "runs" / name)
        assert "MPI_ABORT" not in (folder / "output.txt").read_text() and "is lost" not in log_of(folder / "runs" / name)
        print(f"  {seeds} sets of inputs: {lasted:.0f} s")
        if lasted > 90:
            return
        assert seeds < 1000, "this machine is too fast for this model"
        seeds = min(1000, int(seeds * 110 / lasted) + 1)


if __name__ == "__main__":
    main(minutes)
