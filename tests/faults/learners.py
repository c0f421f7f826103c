"""Several learners: one that is held, and numbers of them that change. The run continues from its last checkpoint and loses nothing."""
import os
import signal
import time

from _faults import ENDLESS, end, epochs, job, log_of, metrics, ranks_of, stored, wait_until
from _rlgo import QUICK, SMALL_NET, complete, main, rlgo

OPTIONS = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--device", "cpu", "--train.polish", "false", "--checkpoint.every", 1, "--name", "r"]
TIMEOUT_S = 4


def begun(folder):
    process = job(*OPTIONS, *ENDLESS, "--learners", 2, "--train.actor-timeout", TIMEOUT_S, cwd=folder, ranks=4, RLGO_RESTARTS="3")
    wait_until("three epochs", lambda: epochs(folder / "runs/r") >= 3, process=process)
    return process, ranks_of(process)


def goes_on(process, run):
    done = epochs(run)
    wait_until("two more epochs", lambda: epochs(run) >= done + 2, process=process)
    end(process)
    complete(run)
    rows = metrics(run)
    assert [int(row["epoch"]) for row in rows] == list(range(1, len(rows) + 1))
    assert int(rows[-1]["lost_episodes"]) == 0


def follower_held(folder):
    """SIGSTOP of learner 1 for good: rank 0 says that it is lost, and the job continues from the last checkpoint by itself"""
    process, found = begun(folder)
    run = folder / "runs/r"
    os.kill(found[1], signal.SIGSTOP)
    wait_until("the second start", lambda: log_of(run).count("resumed from") == 1, process=process)
    goes_on(process, run)
    output = (folder / "output.txt").read_text()
    assert "learner rank 1 is lost" in output or "did not answer" in output, output[-2000:]


def leader_held(folder):
    """SIGSTOP of learner 0 for longer than all timeouts, then SIGCONT: whatever rank had given up, the run continues"""
    process, found = begun(folder)
    os.kill(found[0], signal.SIGSTOP)
    time.sleep(TIMEOUT_S + 2)
    os.kill(found[0], signal.SIGCONT)
    goes_on(process, folder / "runs/r")


def other_numbers(folder):
    """three learners, then two, one, and four: the weights continue, every rank's episodes are there once"""
    run = folder / "runs/r"
    sums = set()
    for epoch, (learners, ranks) in enumerate(((3, 4), (2, 4), (1, 3), (4, 5)), start=1):
        begin = ["--resume", "runs/r"] if epoch > 1 else OPTIONS
        rlgo(*begin, "--learners", learners, "--epochs", epoch, "--train.steps-per-epoch", 60, cwd=folder, ranks=ranks)
        lines = [line.rsplit(" ", 1)[1] for line in log_of(run).splitlines() if "checksum of the weights" in line]
        if learners > 1:
            assert len(lines) >= learners and len(set(lines[-learners:])) == 1, lines
            sums.add(lines[-1])
    assert len(sums) == 3, sums
    assert [int(row["epoch"]) for row in metrics(run)] == [1, 2, 3, 4]
    assert stored(run).groupby(["rank", "episode"]).size().max() == 1


if __name__ == "__main__":
    main(follower_held, leader_held, other_numbers)
