"""Several learners under mpirun: runs end, checksums agree, resume continues, bad numbers and deaths end clearly."""
import os
import re
import signal
import subprocess

from _rlgo import QUICK, SMALL_NET, children, complete, environment, main, metrics, mpirun, rlgo, wait_until

TWO = ["--graph", "toy_conv", *QUICK, *SMALL_NET, "--learners", 2, "--train.steps-per-epoch", 60, "--device", "cpu", "--name", "r"]
DREAM = ["--dream.guard", 0, "--wm.random-fraction", 0.4, "--wm.passes", 2, "--wm.hidden", 16, "--evaluate.every", 1, "--dream.batch", 8, "--dream.steps-per-epoch", 40]


def agreed(run, learners):
    """The log shows how the learners are joined, and that all ended with the same weights."""
    log = (run / "log.txt").read_text()
    assert f"{learners} learners; gradients are summed by ring of {learners} ranks on the CPU" in log, log
    sums = re.findall(r"learner (\d+): checksum of the weights ([0-9a-f]{16})", log)[-learners:]
    assert [int(place) for place, _ in sums] == list(range(learners)), sums
    assert len({checksum for _, checksum in sums}) == 1 and int(sums[0][1], 16) != 0, sums
    return sums[0][1]


def two_learn_and_go_on(folder):
    """two learners, two actors; then the run is resumed with three learners"""
    rlgo(*TWO, "--epochs", 3, cwd=folder, ranks=4)
    run = folder / "runs/r"
    complete(run)
    first = agreed(run, 2)
    rows = metrics(run)
    assert len(rows) == 3 and all(float(row["host_memory_mb"]) > 50 and int(row["actors"]) == 2 for row in rows)
    assert all(int(float(row["transitions"])) == int(row["epoch_steps"]) for row in rows)
    rlgo("--resume", "runs/r", "--epochs", 5, "--learners", 3, cwd=folder, ranks=4)
    assert [int(row["epoch"]) for row in metrics(run)] == [1, 2, 3, 4, 5]
    assert agreed(run, 3) != first
    print(f"  {rows[-1]['transitions']} transitions in the last update of the two")


def agents_with_a_world_model(folder):
    """model-based and hybrid: world model, dreams and controller on two learners"""
    options = [*TWO[:-2], *DREAM, "--epochs", 5]
    rlgo(*options, "--agent", "model-based", "--wm.data", "store", "--name", "m", cwd=folder, ranks=3)
    agreed(folder / "runs/m", 2)
    assert {int(float(row["phase"])) for row in metrics(folder / "runs/m")} == {0, 1, 2}
    rlgo(*options, "--agent", "hybrid", "--hybrid.warmup", 0.2, "--hybrid.threshold", -1, "--wm.encoder", "joint", "--name", "h", cwd=folder, ranks=4)
    agreed(folder / "runs/h", 2)
    assert float(metrics(folder / "runs/h")[-1]["dreamed_steps"]) > 0


def bad_numbers(folder):
    """as many learners as ranks, learners without mpirun, learners that have nothing to learn"""
    for arguments, ranks, words in ((["--learners", 2], None, ["--learners 2", "mpirun -np"]), (["--learners", 2], 2, ["of 2 ranks at least one must act"]),
                                    (["--learners", 5], 3, ["at most 2 learners"]), (["--learners", 0], None, ["learners", "1"]),
                                    (["--learners", 2, "--agent", "random"], 3, ["random agent does not learn"])):
        done = rlgo("--graph", "toy_conv", *arguments, cwd=folder, status=None, ranks=ranks, timeout=300)
        lines = [line for line in done.stderr.splitlines() if line.startswith("rlgo: error:")]
        assert done.returncode != 0 and len(lines) == 1 and all(word in lines[0] for word in words), done.stderr
    assert not (folder / "runs").exists()


def killed(folder, *launcher_options):
    options = ["--epochs", 1000000, "--checkpoint.every", 1, "--train.actor-timeout", 5]
    with open(folder / "output.txt", "w") as out:
        launcher = [*mpirun(4), *launcher_options]
        job = subprocess.Popen([*launcher, os.environ["RLGO_BINARY"], *map(str, [*TWO, *options])], cwd=folder, env=environment(),
                               stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
    run = folder / "runs/r"
    wait_until("two epochs", lambda: (run / "metrics.csv").exists() and len(metrics(run)) >= 2, process=job)
    os.kill(children(job)[1], signal.SIGKILL)
    status = job.wait(timeout=300)
    return status, (folder / "output.txt").read_text()


def a_learner_that_dies(folder):
    """SIGKILL of learner 1: under plain mpirun the job ends at once"""
    status, output = killed(folder)
    assert status != 0 and "signal 9" in output, (status, output[-2000:])
    rlgo("--resume", "runs/r", "--epochs", len(metrics(folder / "runs/r")) + 1, cwd=folder, ranks=4)
    agreed(folder / "runs/r", 2)


def a_learner_that_dies_where_others_live_on(folder):
    """SIGKILL of learner 1 under --enable-recovery: rank 0 notices, says so, and ends the job"""
    _, output = killed(folder, "--enable-recovery")
    assert re.search(r"rlgo: error: .*learner rank 1 (is lost|did not answer).*--resume", output), output[-2000:]
    rlgo("--resume", "runs/r", "--epochs", len(metrics(folder / "runs/r")) + 1, cwd=folder, ranks=4)


if __name__ == "__main__":
    main(two_learn_and_go_on, agents_with_a_world_model, bad_numbers, a_learner_that_dies, a_learner_that_dies_where_others_live_on)
