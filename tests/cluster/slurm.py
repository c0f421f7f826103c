"""The Slurm scripts on a real Slurm of one node, which this test starts: submit, run, preempt, requeue, resume, finish."""
import os

from _slurm import RUN, WAIT_S, Slurm, epochs, finished_in_two_starts, start_again, state, submit
from _rlgo import RANDOM, SOURCE, complete, main, wait_until


def preempted(folder):
    """a job of a higher partition takes the node: USR1, checkpoint, requeue, resume, finish"""
    with Slurm(folder / "slurm") as slurm:
        number, run = submit(slurm, folder, "--time=10", SOURCE / "launch/scripts/slurm-train.sh", *RUN, "--seconds", 20)
        state(slurm, number, "RUNNING")
        wait_until("three epochs", lambda: epochs(run) >= 3)
        urgent = slurm.submit("--ntasks=4", "--partition=high", f"--output={folder}/urgent.out", "--wrap", "sleep 2")
        state(slurm, number, "PENDING")
        done = epochs(run)
        assert (run / f"checkpoints/checkpoint-{done:08}.h5").exists(), "the last epoch is not in a checkpoint"
        assert f"the state is stored; job {number} goes back to the queue" in (folder / "job.out").read_text()
        state(slurm, urgent, "COMPLETED")
        start_again(slurm, number)
        finished_in_two_starts(slurm, number, folder, run)
        assert epochs(run) > done
        print(f"  preempted after {done} epochs, finished after {epochs(run)}")


def sweep(folder):
    """an array over two settings and two seeds; submitted again, nothing is left to do"""
    with Slurm(folder / "slurm") as slurm:
        (folder / "settings.txt").write_text("# reward\nr1  --env.reward R1\n\nr2  --env.reward R2\n")
        os.environ.update(SLURM_CONF=str(folder / "slurm/slurm.conf"), RLGO_SWEEP=str(folder / "sweep"))
        common = ["--graph", "toy_conv", *RANDOM, "--epochs", 2, "--train.steps-per-epoch", 60]
        for start in (1, 2):
            printed = slurm.run(SOURCE / "launch/scripts/slurm-sweep.sh", folder / "settings.txt", 2, "--sbatch",
                             f"--ntasks=2 --time=10 --output={folder}/array-%a-{start}.out --chdir={folder}", *common)
            number = int(printed.split()[-1])
            wait_until("the array's end", lambda: not slurm.run("squeue", "-h", "-j", str(number), check=False).strip(), seconds=WAIT_S)
            outputs = [(folder / f"array-{index}-{start}.out").read_text() for index in range(4)]
            for name in ("r1-s1", "r1-s2", "r2-s1", "r2-s2"):
                complete(folder / "sweep" / name)
                assert epochs(folder / "sweep" / name) == 2
            assert sum("is done" in output for output in outputs) == (0 if start == 1 else 4), outputs
        configurations = [(folder / "sweep" / name / "config.cfg").read_text() for name in ("r1-s2", "r2-s1")]
        assert "env.reward = R1\n" in configurations[0] and "seed = 2\n" in configurations[0]
        assert "env.reward = R2\n" in configurations[1] and "seed = 1\n" in configurations[1]


if __name__ == "__main__":
    main(preempted, sweep)
